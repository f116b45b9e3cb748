"""`python -m barnabas.experiments.explore.clients`: one round, see the package."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
import yaml

from barnabas.experiments.explore.clients import aiokafka, confluent
from barnabas.experiments.explore.clients.work import Work
from barnabas.experiments.explore.history import Writer

app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


class Client(StrEnum):
    """Which library is at work."""

    confluent = "confluent"
    aiokafka = "aiokafka"


@app.command()
def main(
    client: Annotated[Client, typer.Argument(help="The client library.")],
    bootstrap: Annotated[str, typer.Option(envvar="BARNABAS_BOOTSTRAP", help="The cluster.")],
    history: Annotated[
        Path, typer.Option(envvar="BARNABAS_HISTORY", help="File for the history.")
    ] = Path("history.jsonl"),
    run: Annotated[str, typer.Option(envvar="BARNABAS_RUN", help="Token of this run.")] = "1",
    topic: Annotated[
        str, typer.Option(help="Topic to send to; {run} is replaced by the token.")
    ] = "orders-{run}",
    records: Annotated[int, typer.Option(min=1, help="Number of records.")] = 30,
    transactions: Annotated[int, typer.Option(min=0, help="Number of transactions.")] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Transactional id of the producer."),
    ] = None,
) -> None:
    """Send records, read them in a group, and write the history of it."""
    named = topic.replace("{run}", run)
    more = {
        name: yaml.safe_load(value)
        for name, _, value in (one.partition("=") for one in settings or ())
    }
    writer = Writer(history)
    try:
        work = Work(bootstrap, named, records, transactions, more, writer)
        (confluent if client is Client.confluent else aiokafka).run(work)
    finally:
        writer.close()


if __name__ == "__main__":
    app()
