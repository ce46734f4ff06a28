"""Fixtures of the checkpoint tests that real hosts use too."""

from tests.checkpoint.hub_client import hub_python

__all__ = ["hub_python"]
