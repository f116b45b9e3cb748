"""`barnabas replay`: the command; its options are in `options.py`."""

from __future__ import annotations

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.parameters import takes
from barnabas.cli.replay.options import ReplayOptions

replay_app = typer.Typer()


@replay_app.command(
    "replay",
    epilog=examples(
        "barnabas replay run.pcapng -b localhost:9092 --speed max",
        "barnabas replay run.pcapng -b localhost:9092 --speed 10 --shift-time",
        "barnabas replay run.pcapng -b localhost:9092 --filter \"client_id == 'orders'\" "
        "--ignore base_offset --json | jq .response",
        "barnabas replay run.pcapng -b localhost:9092 --allow CreateTopics",
    ),
)
@takes(ReplayOptions)
def replay_command(options: ReplayOptions) -> int:
    """Replay recorded requests against a live cluster; exit code 1 if any response differs."""
    from barnabas.cli.replay.replay import Replay, replay

    return replay(Replay.of(options))
