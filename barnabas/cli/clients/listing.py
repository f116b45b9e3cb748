"""Says which clients and workloads there are."""

from __future__ import annotations

import json

from rich.table import Table
from rich.text import Text

from barnabas.cli.clients.naming import WORK, with_release
from barnabas.cli.console.output import Output
from barnabas.experiments.clients.workloads import WORKLOADS
from barnabas.peers.clients.registry import LIBRARIES


def list_clients(as_json: bool) -> None:
    """Libraries with the release that is run if nobody names one, and workloads."""
    output = Output()
    clients = [(with_release(one.name), one.description) for one in LIBRARIES]
    if as_json:
        for client, what in clients:
            output.raw(json.dumps({"client": client, "what": what}))
        for one in WORKLOADS:
            usual = one.name in WORK
            output.raw(json.dumps({"workload": one.name, "what": one.description, "usual": usual}))
        return
    output.out.print(_table("client", "what NAME@VERSION is", clients))
    rows = [(one.name + (" *" if one.name in WORK else ""), one.description) for one in WORKLOADS]
    output.out.print(_table("workload", "what the client does", rows))
    output.line("* is run if nobody names a workload.")


def _table(first: str, second: str, rows: list[tuple[str, str]]) -> Table:
    table = Table(first, second)
    for row in rows:
        table.add_row(*map(Text, row))
    return table
