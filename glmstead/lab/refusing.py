"""How a refusal reaches the user."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import click

from glmstead.lab.config import LabError

P = ParamSpec("P")
R = TypeVar("R")


def refusing(command: Callable[P, R]) -> Callable[P, R]:
    """Show a LabError as one line on stderr, exit status 1."""

    @wraps(command)
    def refuse(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except LabError as error:
            raise click.ClickException(str(error)) from None

    return refuse
