"""``glmstead clients``: settings for the clients people use, ready to paste."""

from pathlib import Path

import click

from glmstead.clients import KEY, ClientFile, Served, files
from glmstead.commands.endpoint import declared, live
from glmstead.commands.plan import Refusal, inventory_argument
from glmstead.settings import Settings

_MOST = 32_000  # tokens of one answer, where the gateway has no cap of its own


@click.command()
@inventory_argument
@click.option(
    "--write", type=click.Path(path_type=Path), metavar="HOME", help="Write the files under HOME."
)
@click.option("--url", metavar="URL", help="The gateway, where clients reach it otherwise.")
@click.option("--key", is_flag=True, help="Print the gateway's key and nothing else.")
def clients(inventory: Path, write: Path | None, url: str | None, key: bool) -> None:
    """Print settings for Claude Code, pi, curl and the OpenAI and Anthropic SDKs.

    They name the key's variable and never hold the key. Only --key contacts a host.
    """
    if key:
        click.echo(live(inventory).state["key"])
        return
    found = declared(inventory)
    wanted = files(served(found.settings, url or found.url))
    click.echo(f'export {KEY}="$(glmstead clients {inventory} --key)"')
    for one in wanted:
        if write is None:
            click.echo(f"\n# {one.client}: ~/{one.path}\n{one.text}", nl=False)
        else:
            click.echo(f"{one.client}: {_written(one, write)}")


def served(settings: Settings, url: str | None) -> Served:
    """Return what clients must know of an endpoint; raises Refusal for one on loopback only."""
    if url is None:
        raise Refusal(
            "gateway_bind is loopback: clients cannot reach it; fix: open an SSH tunnel and give "
            f"--url http://127.0.0.1:{settings.gateway.port}, or set gateway_bind"
        )
    context = settings.vllm.max_model_len
    most = settings.gateway.max_tokens or min(_MOST, context // 4)
    return Served(url, settings.vllm.served_model_name, context, most)


def _written(one: ClientFile, home: Path) -> Path:
    """Write a file where there is none, or the same; raises Refusal for another's."""
    path = home / one.path
    if path.exists() and path.read_text(encoding="utf-8") != one.text:
        raise Refusal(f"{path}: exists and differs; fix: merge it by hand, or remove it")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(one.text, encoding="utf-8")
    return path
