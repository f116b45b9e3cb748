"""`barnabas peers`: its commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.models import CommandInfo

from barnabas.broker_kinds import KINDS, STARTABLE
from barnabas.cli.console.help import Group, arrange, examples
from barnabas.cli.console.options import JsonLines
from barnabas.plugins import load, references
from barnabas.trouble import Trouble


class PeersGroup(Group):
    """The commands of `barnabas peers`: its own, and those that installed packages add.

    A package adds one by an entry point of `barnabas.peers`: a typer application with one command.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return [*super().list_commands(ctx), *references("peers")]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; an added one is imported now."""
        if cmd_name in self.commands or cmd_name not in references("peers"):
            return super().get_command(ctx, cmd_name)
        try:
            return _added(cmd_name, references("peers")[cmd_name])
        except Trouble as trouble:
            return _unusable(cmd_name, trouble)


def _added(name: str, reference: str) -> Any:
    who = f"command peers {name}"
    added = load(who, reference)
    if not isinstance(added, typer.Typer) or len(added.registered_commands) != 1:
        raise Trouble(f"{who}: {reference} is not a typer application with one command")
    return _command(name, *added.registered_commands)


def _unusable(name: str, trouble: Trouble) -> Any:
    """Return a command that raises the trouble, so that the help of others is not lost."""

    def fail() -> None:
        raise trouble

    takes_all = {"ignore_unknown_options": True, "allow_extra_args": True}
    info = CommandInfo(name, callback=fail, help=str(trouble), context_settings=takes_all)
    return _command(name, info)


def _command(name: str, info: CommandInfo) -> Any:
    app = typer.Typer(add_completion=False)
    app.registered_commands.append(info)
    arrange(app)
    command = typer.main.get_command(app)
    command.name = name
    return command


peers_app = typer.Typer(
    cls=PeersGroup, no_args_is_help=True, help="Start brokers to put behind the proxy."
)


@peers_app.command(
    "list", epilog=examples("barnabas peers list", "barnabas peers list --json | jq -r .start")
)
def peers_list(
    as_json: JsonLines = False,
) -> None:
    """List the kinds of brokers that can be started, and the versions that were seen working."""
    from barnabas.cli.console.json_text import json_text
    from barnabas.cli.peers.run import kinds, startable

    for line in map(json_text, startable()) if as_json else kinds():
        typer.echo(line)


@peers_app.command(
    "start",
    epilog=examples(
        "barnabas peers start embedded",
        "barnabas peers start apache:3.9.1 --nodes 3",
        "barnabas peers start embedded --listen 127.0.0.1:9092",
    ),
)
def peers_start(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help=f"{STARTABLE}, or another of `peers list`.",
        ),
    ],
    nodes: Annotated[
        int | None,
        typer.Option(
            "--nodes",
            "--brokers",
            "-n",
            min=1,
            max=100,
            help="How many brokers; 1 of apache and kfake, else 3.",
            show_default=False,
        ),
    ] = None,
    topics: Annotated[
        list[str] | None,
        typer.Option(
            "--topic",
            "-t",
            metavar="NAME:PARTITIONS",
            help="A topic to create, where a kind takes topics; repeatable.",
        ),
    ] = None,
    zookeeper: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT|embedded",
            help="The ZooKeeper of kinds that need one; embedded, the default, starts one.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The folder for logs; by default they are deleted with the brokers. "
            f"Not for {', '.join(KINDS)}.",
        ),
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Where the first broker listens, the others on the ports after it; else any port "
            "of 127.0.0.1. Not for librdkafka.",
        ),
    ] = None,
) -> int:
    """Start brokers, print their addresses, and keep them running until Ctrl-C."""
    from barnabas.cli.peers.kinds import Options
    from barnabas.cli.peers.run import start

    return start(kind, nodes, options=Options(topics, zookeeper, data, listen))
