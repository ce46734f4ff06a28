"""``glmstead clients``: settings for the clients people use, ready to paste."""

import re
from pathlib import Path

import click

from glmstead.clients import KEY, ClientFile, Served, files
from glmstead.commands.endpoint import declared, live
from glmstead.commands.plan import Refusal, inventory_argument
from glmstead.settings import Settings

# The URL goes into a shell line and into Python: a name, a port and folders, no more.
_URL = re.compile(r"https?://([\w.-]+|\[[0-9a-fA-F:.]+\])(:\d+)?(/(?!v1$)[\w.-]+)*")
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
    if write is not None:
        _write(wanted, write)
    click.echo(f'export {KEY}="$(glmstead clients {inventory} --key)"')
    for one in wanted:
        if write is None:
            click.echo(f"\n# {one.client}: ~/{one.path}\n{one.text}", nl=False)
        else:
            click.echo(f"{one.client}: {write / one.path}")


def served(settings: Settings, url: str | None) -> Served:
    """Return what clients must know of an endpoint; raises Refusal for none."""
    if url is None:
        raise Refusal(
            "gateway_bind is loopback: clients cannot reach it; fix: open an SSH tunnel and give "
            f"--url http://127.0.0.1:{settings.gateway.port}, or set gateway_bind"
        )
    if not _URL.fullmatch(url):
        raise Refusal(f"--url {url}: no base URL; fix: such as http://10.0.0.11:4000, without /v1")
    context = settings.vllm.max_model_len
    most = settings.gateway.max_tokens or min(_MOST, context // 4)
    return Served(url, settings.vllm.served_model_name, context, most)


def _write(wanted: list[ClientFile], home: Path) -> None:
    """Write all files, or none where one of them is another's; raises Refusal."""
    try:
        others = [home / one.path for one in wanted if _is_another_s(home / one.path, one.text)]
        if others:
            raise Refusal(
                f"{others[0]}: exists and differs, nothing is written; fix: merge it by hand from "
                "what clients prints without --write, or give --write another folder"
            )
        for one in wanted:
            path = home / one.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(one.text, encoding="utf-8")
    except OSError as error:
        raise Refusal(f"{error.filename}: {error.strerror}; fix: give --write a folder") from error


def _is_another_s(path: Path, text: str) -> bool:
    return (path.exists() or path.is_symlink()) and path.read_bytes() != text.encode()
