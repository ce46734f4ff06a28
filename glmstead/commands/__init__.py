"""The commands of the front door, one a file."""
