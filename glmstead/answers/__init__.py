"""The questions asked of a live endpoint, and how their answers are judged."""
