"""The front door: ``glmstead``. Commands are imported only when they are called."""

from importlib import import_module

import click

COMMANDS: dict[str, tuple[str, str]] = {
    "deploy": ("glmstead.commands.deploy:deploy", "Bring hosts to the declared state, then ask."),
    "drift": ("glmstead.commands.drift:drift", "Say what differs from the declared state."),
    "status": ("glmstead.commands.status:status", "Say what runs where."),
    "patches": ("glmstead.patching.cli:patches", "Say the verdict of every source patch."),
    "overlay": ("glmstead.commands.overlay:overlay", "Pin the files of an unreleased change."),
    "nccl": ("glmstead.commands.nccl:nccl", "Measure how the GPUs talk best."),
    "lab": ("glmstead.lab.cli:lab", "Throw-away systemd hosts on this machine."),
    "fit": ("glmstead.commands.fit:fit", "Say whether the model fits, contacting no host."),
    "chat": ("glmstead.commands.chat:chat", "Put one question to the endpoint."),
    "validate": ("glmstead.commands.validate:validate", "Ask the live endpoint what is known."),
    "clients": ("glmstead.commands.clients:clients", "Print settings for the clients people use."),
    "bench": ("glmstead.commands.bench:bench", "Measure the live endpoint."),
    "logs": ("glmstead.commands.logs:logs", "The journals of all hosts, merged by time."),
    "recover": ("glmstead.commands.recover:recover", "Restart the whole cluster cleanly."),
}


class Door(click.Group):
    """A group that knows its commands by name and imports one when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name][0].split(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_) for name, (_, help_) in COMMANDS.items()])


@click.command(cls=Door, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="glmstead")
def main() -> None:
    """Serve GLM-5.2 on your own GPUs, and keep it served."""
