"""``glmstead lab``: the commands."""

import json
import os
import shlex
import sys
import time

import click

from glmstead.lab import lifecycle, machine, preflight
from glmstead.lab.config import MAX_HOSTS, LabConfig
from glmstead.lab.lock import locked
from glmstead.lab.refusing import refusing
from glmstead.lab.ssh import ssh_command
from glmstead.lab.state import read_lab

DEFAULT_HOSTS = 2


@click.group()
def lab() -> None:
    """Throw-away systemd hosts on this machine."""
    # sudo and su do not always pass the folders where Debian keeps the programs of root.
    os.environ["PATH"] = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


@lab.command()
@click.option(
    "--hosts", type=click.IntRange(1, MAX_HOSTS), help="How many [default: as now, or 2]."
)
@click.option("--fresh", is_flag=True, help="Throw the hosts' disks away first.")
@click.option("--wheels/--no-wheels", default=True, help="Have the locked wheels in the cache.")
@refusing
def up(hosts: int | None, fresh: bool, wheels: bool) -> None:
    """Bring the lab up, or to another number of hosts; nothing to do is fine."""
    config, start = LabConfig.from_environment(), time.monotonic()
    preflight.require_root()
    preflight.require_programs()
    existing = lifecycle.existing_hosts(config)
    count = hosts or len(existing) or DEFAULT_HOSTS
    preflight.require_machine(config, max(0, count - len(existing)))
    with locked(config):
        if not fresh and lifecycle.is_up(config, read_lab(config), count):
            click.echo(f"Already up: {' '.join(config.host_names(count))}")
            return
        if fresh:
            lifecycle.remove_hosts(config, existing)
        states = lifecycle.up(config, count, wheels)
    for name, state in states.items():
        click.echo(f"{name}  {config.address(name)}  {state}")
    click.echo(f"Up after {time.monotonic() - start:.0f} s. Log in: glmstead lab ssh {name}")


@lab.command()
@refusing
def down() -> None:
    """Remove hosts, disks, network and records; keep the caches."""
    config = LabConfig.from_environment()
    preflight.require_root()
    with locked(config):
        lifecycle.down(config)
    click.echo(f"Down. The cache stays in {config.cache}")


@lab.command("list")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
@refusing
def list_hosts(as_json: bool) -> None:
    """Show the hosts, where they are and whether they run."""
    config = LabConfig.from_environment()
    found = read_lab(config)
    rows = [
        {
            "name": host.name,
            "address": host.address,
            "interface": host.interface,
            "running": machine.is_running(config, host.name),
        }
        for host in (found.hosts if found else ())
    ]
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        click.echo(f"{row['name']}  {row['address']}  {'running' if row['running'] else 'off'}")
    if not rows:
        click.echo("No lab is up: glmstead lab up")


@lab.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("name")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@refusing
def ssh(name: str, command: tuple[str, ...]) -> None:
    """Log in to host NAME, or run COMMAND there.

    One word is a line for the host's shell; several are a program and its arguments, kept apart.
    """
    found, host = lifecycle.known_host(LabConfig.from_environment(), name)
    line = command if len(command) < 2 else (shlex.join(command),)
    sys.stdout.flush()
    argv = ssh_command(found, host.name, line)
    os.execvp(argv[0], argv)


@lab.command()
@click.argument("name")
@refusing
def reboot(name: str) -> None:
    """Reboot host NAME and wait until it is back."""
    config, start = LabConfig.from_environment(), time.monotonic()
    preflight.require_root()
    found, host = lifecycle.known_host(config, name)
    with locked(config):
        lifecycle.reboot(config, found, host)
    click.echo(f"{name} is back after {time.monotonic() - start:.0f} s")


@lab.command()
@click.argument("name")
@refusing
def kill(name: str) -> None:
    """Pull the plug of host NAME; `up` boots it again from its disk."""
    config = LabConfig.from_environment()
    preflight.require_root()
    _, host = lifecycle.known_host(config, name)
    with locked(config):
        machine.pull_plug(config, host.name)
    click.echo(f"{name} is off: glmstead lab up starts it again")


@lab.command()
@click.argument("name")
@click.pass_context
@refusing
def start(context: click.Context, name: str) -> None:
    """Start host NAME after a kill: `up`, which starts whatever is off."""
    lifecycle.known_host(LabConfig.from_environment(), name)
    context.invoke(up)
