"""`barnabas peers`: its commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.options import JsonLines, Servers

peers_app = typer.Typer(no_args_is_help=True, help="Start brokers to stand behind the proxy.")

Topic = Annotated[str, typer.Option("--topic", "-t", metavar="NAME", help="The topic.")]


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
        "barnabas peers start rewrite --topic t:6",
        "barnabas peers start central --topic t:6 --zookeeper localhost:2181",
    ),
)
def peers_start(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="embedded, apache:VERSION, rewrite or central; see `peers list`."
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
            help="How many brokers; 1 of apache, else 3.",
            show_default=False,
        ),
    ] = None,
    topics: Annotated[
        list[str] | None,
        typer.Option(
            "--topic",
            "-t",
            metavar="NAME:PARTITIONS",
            help="A topic of rewrite or central. May be repeated.",
        ),
    ] = None,
    zookeeper: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT|embedded",
            help="The ZooKeeper of rewrite or central; embedded, the default, starts one.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where logs of rewrite or central stay; else they go with the brokers.",
        ),
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Where the first broker of rewrite or central listens, the others on the ports "
            "behind it; else any port of 127.0.0.1.",
        ),
    ] = None,
) -> None:
    """Start brokers, print their addresses, and keep them running until Ctrl-C."""
    from barnabas.cli.peers.designs import Options
    from barnabas.cli.peers.run import start

    raise typer.Exit(start(kind, nodes, options=Options(topics, zookeeper, data, listen)))


@peers_app.command(
    "produce",
    epilog=examples(
        "seq 1 100 | barnabas peers produce -b localhost:9092 --topic t",
        "barnabas peers produce -b localhost:9092 --topic t < lines.txt",
    ),
)
def peers_produce(bootstrap: Servers, topic: Topic) -> None:
    """Send lines of stdin as records, to all partitions in turn, with Produce v0: to brokers of 0.8 to 3.9,
    rewrite and central."""
    from barnabas.cli.peers.produce import produce

    raise typer.Exit(produce(bootstrap, topic))


@peers_app.command(
    "consume",
    epilog=examples(
        "barnabas peers consume rewrite -b localhost:9092 --group g --topic t",
        "barnabas peers consume central -b localhost:9092 --group g --topic t --json | jq .value",
    ),
)
def peers_consume(
    design: Annotated[
        str, typer.Argument(metavar="DESIGN", help="rewrite or central: what the brokers speak.")
    ],
    bootstrap: Servers,
    group: Annotated[str, typer.Option("--group", "-g", metavar="NAME", help="Its group.")],
    topic: Topic,
    as_json: JsonLines = False,
) -> None:
    """Consume a topic as one of a group, and print records until Ctrl-C.

    On stderr: which partitions it starts and stops to fetch, and why. A topic that the brokers lack is said
    and waited for; brokers of another design end it, with exit code 3.
    """
    from barnabas.cli.peers.consume import consume

    raise typer.Exit(consume(design, bootstrap, group, topic, as_json=as_json))
