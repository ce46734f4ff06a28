"""``glmstead validate``: asks the live endpoint questions with known answers."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from glmstead import receipt as receipts
from glmstead.answers.ask import read_key
from glmstead.commands.endpoint import THROUGH, Live, endpoints, live
from glmstead.commands.plan import Refusal, file_option, inventory_argument

_REFUSED = 3  # of answers.session


@click.command()
@inventory_argument
@click.option("--profile", type=click.Choice(["quick", "full"]), default="full", show_default=True)
@click.option("--through", type=click.Choice(THROUGH), default="both", show_default=True)
@click.option("--longest", type=click.IntRange(512), metavar="TOKENS", help="Longest needle.")
@click.option("--model", metavar="NAME", help="Ask this model instead of the declared one.")
@click.option("--key-file", type=click.Path(exists=True, dir_okay=False), help="NAME=key line.")
@click.option("--seed", type=int, help="Ask exactly what the run with this seed asked.")
@click.option("--timeout", type=click.IntRange(5), default=900, show_default=True, metavar="S")
@file_option("--receipt", "Write the receipt there.")
@click.option("--json", "as_json", is_flag=True, help="Print the receipt instead of lines.")
def validate(inventory: Path, as_json: bool, receipt: Path | None, **options: Any) -> None:
    """Ask the endpoint of INVENTORY questions whose answers are known.

    Through the gateway as a client would, and vLLM directly by an SSH tunnel. quick: short
    answers, tool calls, thinking; full: also needles up to the declared context, recall,
    parallel requests, aborts under load and speed. Both read the log of this start.

    Exit status: 0 every check passed, 1 not.
    """
    options["key"] = _key(options["key_file"])
    found = live(inventory)
    seed = options["seed"] if options["seed"] is not None else random.randrange(1_000_000)
    options["seed"] = seed
    longest = options["longest"]
    if longest and longest > found.settings.vllm.max_model_len:
        raise Refusal(
            f"--longest {longest}: vllm_max_model_len is {found.settings.vllm.max_model_len}; "
            "fix: ask for less, or raise it and deploy"
        )
    verdicts = []
    for verdict in asked(found, options):
        verdicts.append(verdict)
        if not as_json:
            click.echo(line(verdict))
    right = all(verdict["ok"] for verdict in verdicts)
    document = record(inventory, found, options, verdicts)
    where = receipts.write(document, receipt)
    if as_json:
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        wrong = sum(not verdict["ok"] for verdict in verdicts)
        click.echo(f"\n{len(verdicts)} checks, {wrong} failed (seed {seed}); receipt: {where}")
    sys.exit(0 if right else 1)


def asked(found: Live, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the verdicts as they fall: the log first, then the answers; raises Refusal."""
    from glmstead.answers.log_contract import judge

    with (
        endpoints(found, options["through"], options["model"], options["key"]) as chosen,
        _session(request(found, options, chosen)) as process,
    ):
        first = process.stdout.readline() if process.stdout else ""
        if first:  # the endpoint can be asked at all
            yield from (
                verdict.document for verdict in judge(found.state["journal"], found.settings)
            )
            yield json.loads(first)
            yield from (json.loads(text) for text in process.stdout or ())
        said = process.stderr.read().strip() if process.stderr else ""
        status = process.wait()
    if status == _REFUSED:
        raise Refusal(said)
    if status not in (0, 1) or not first:
        raise Refusal(f"the questions could not be asked: {(said.splitlines() or ['?'])[-1]}")


def request(found: Live, options: dict[str, Any], chosen: list[dict[str, Any]]) -> dict[str, Any]:
    """The request of ``answers.session``; it holds the key and goes by a pipe."""
    vllm = found.settings.vllm
    return {
        "endpoints": chosen,
        "profile": options["profile"],
        "context": vllm.max_model_len,
        "longest": options["longest"],
        "at_once": vllm.max_num_seqs,
        "long_lines": found.settings.smoke.long_lines,
        "seed": options["seed"],
        "timeout_s": options["timeout"],
    }


def _key(path: str | None) -> str | None:
    try:
        return read_key(path) if path else None
    except (OSError, ValueError) as error:
        raise Refusal(f"{path}: {error}; fix: a file of one line, NAME=key") from error


@contextmanager
def _session(request: dict[str, Any]) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    words = [sys.executable, "-m", "glmstead.answers.session"]
    process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    if process.stdin:
        process.stdin.write(json.dumps(request))
        process.stdin.close()
    try:
        yield process
    finally:
        process.kill()  # it asks for nobody once we leave
        process.wait()


def line(verdict: dict[str, Any]) -> str:
    """Return what people read of a verdict."""
    figures = verdict["figures"]
    shown = [f"{figures['seconds']:.1f} s"] if "seconds" in figures else []
    shown += [f"TTFT {figures['ttft_s']:.2f} s"] if "ttft_s" in figures else []
    for name, label in (("prefill_tok_s", "prefill"), ("decode_tok_s", "decode")):
        shown += [f"{label} {figures[name]:g} tok/s"] if name in figures else []
    mark = "ok  " if verdict["ok"] else "FAIL"
    where = f"{verdict['check']:<9}{verdict['via']:<8} {verdict['what']}"
    return f"{mark} {where}: {verdict['evidence']}" + (f"  ({', '.join(shown)})" if shown else "")


def record(
    inventory: Path, found: Live, options: dict[str, Any], verdicts: list[dict[str, Any]]
) -> dict[str, Any]:
    """The receipt of a validation."""
    header = receipts.header("validate", inventory, found.settings, found.cluster)
    asked = {name: options[name] for name in ("profile", "through", "longest", "model", "seed")}
    passed = all(verdict["ok"] for verdict in verdicts)
    host = receipts.found_on(found.state)
    return {**header, **host, "asked": asked, "passed": passed, "checks": verdicts}
