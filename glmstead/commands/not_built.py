"""Commands of the design that do not exist yet, and say so."""

import click


def _not_built(name: str) -> click.Command:
    @click.command(name, context_settings={"ignore_unknown_options": True})
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def command(arguments: tuple[str, ...]) -> None:
        """Not built yet."""
        raise click.ClickException(f"glmstead {name}: not built yet")

    return command


recover = _not_built("recover")
