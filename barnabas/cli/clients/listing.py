"""`barnabas clients list`: the client libraries and the workloads."""

from __future__ import annotations

import json

from rich.table import Table
from rich.text import Text

from barnabas.cli.clients.names import WORK, with_release
from barnabas.cli.console.output import Output
from barnabas.experiments.clients.workloads import WORKLOADS
from barnabas.peers.clients.registry import LIBRARIES


def list_clients(as_json: bool) -> None:
    """Print the libraries with the releases that run by default, and the workloads."""
    output = Output()
    clients = [(with_release(each.name), each.description) for each in LIBRARIES]
    if as_json:
        for client, description in clients:
            output.raw(json.dumps({"client": client, "what": description}))
        for each in WORKLOADS:
            is_default = each.name in WORK
            output.raw(
                json.dumps({"workload": each.name, "what": each.description, "usual": is_default})
            )
        return
    output.out.print(_table("client", "what NAME@VERSION is", clients))
    rows = [
        (each.name + (" *" if each.name in WORK else ""), each.description) for each in WORKLOADS
    ]
    output.out.print(_table("workload", "what the client does", rows))
    output.line("* runs by default.")


def _table(first: str, second: str, rows: list[tuple[str, str]]) -> Table:
    table = Table(first, second)
    for row in rows:
        table.add_row(*map(Text, row))
    return table
