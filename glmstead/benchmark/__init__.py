"""Speed of the endpoint: what is measured, how two measurements compare, how they are drawn."""
