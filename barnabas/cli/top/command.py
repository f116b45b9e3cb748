"""`barnabas top`: the command; its options are in `options.py`."""

from __future__ import annotations

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.parameters import takes
from barnabas.cli.top.options import TopOptions

top_app = typer.Typer()


@top_app.command(
    "top",
    epilog=examples(
        "barnabas top 127.0.0.1:9999 --token-file token",
        "BARNABAS_CONTROL=127.0.0.1:9999 BARNABAS_TOKEN_FILE=token barnabas top -n 5",
        "barnabas top run.pcapng   # follows a capture while it is being written",
        "barnabas top 127.0.0.1:9999 --token-file token --once --json | jq .total",
        note="Keys: q quits, 1 to 4 shows one table, 0 all, tab selects the next, < and > choose the column "
        "that sorts, / filters by name, p pauses.",
    ),
)
@takes(TopOptions)
def top_command(options: TopOptions) -> int:
    """Show which clients, topics, groups and APIs are busy, as top does."""
    from barnabas.cli.top.top import top

    return top(options)
