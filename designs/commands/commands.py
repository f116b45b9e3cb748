"""The commands that the designs add to `barnabas peers`, and their options."""

from __future__ import annotations

from typing import Annotated

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.options import JsonLines, Servers

Topic = Annotated[str, typer.Option("--topic", "-t", metavar="NAME", help="The topic.")]

produce_app = typer.Typer(add_completion=False)
consume_app = typer.Typer(add_completion=False)


@produce_app.command(
    "produce",
    epilog=examples(
        "seq 1 100 | barnabas peers produce -b localhost:9092 --topic t",
        "barnabas peers produce -b localhost:9092 --topic t < lines.txt",
    ),
)
def peers_produce(bootstrap: Servers, topic: Topic) -> None:
    """Send lines of stdin as records with Produce v0, to all partitions in turn.

    It works with Kafka 0.8 to 3.9 and with the brokers of `peers start rewrite` and `central`.
    """
    from barnabas.designs.commands.produce import produce

    raise typer.Exit(produce(bootstrap, topic))


@consume_app.command(
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
    group: Annotated[
        str, typer.Option("--group", "-g", metavar="NAME", help="The consumer group.")
    ],
    topic: Topic,
    as_json: JsonLines = False,
) -> None:
    """Consume a topic as one of a group, and print records until Ctrl-C.

    Stderr shows which partitions it starts and stops fetching, and why. If the topic does not exist, the
    command reports it and waits. Brokers of another design end it with exit code 3.
    """
    from barnabas.designs.commands.consume import consume

    raise typer.Exit(consume(design, bootstrap, group, topic, as_json=as_json))
