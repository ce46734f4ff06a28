"""``glmstead overlay``: pin the files of a change that no release holds."""

import json

import click

from glmstead.commands.plan import Refusal


@click.command()
@click.argument("name")
@click.option("--from", "source", required=True, metavar="SOURCE", help="Folder or https address.")
@click.option("--commit", required=True, help="The commit that SOURCE is of, 40 hex digits.")
@click.option(
    "--into", "folder", default="files/overlays", show_default=True, help="Folder of the list."
)
@click.argument("paths", nargs=-1, required=True)
def overlay(name: str, source: str, commit: str, folder: str, paths: tuple[str, ...]) -> None:
    """Write NAME.json: the sha256 of each of PATHS in SOURCE.

    PATHS are as below site-packages: vllm/v1/attention/ops/mqa_logits_triton.py
    """
    from glmstead.overlays import OverlayError, list_path, made

    if len(commit) != 40 or set(commit) - set("0123456789abcdef"):
        raise Refusal(f"--commit {commit}: not a commit; fix: give its 40 hex digits")
    try:
        found = made(name, source, commit, list(paths))
    except OverlayError as error:
        raise Refusal(str(error)) from error
    target = list_path(name, folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    document = {"commit": found.commit, "files": dict(found.files)}
    target.write_text(json.dumps(document, indent=1) + "\n")
    click.echo(f"{target}: {len(found.files)} files of {commit[:12]}")
