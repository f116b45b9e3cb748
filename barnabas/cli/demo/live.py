"""`barnabas demo --web`: the page over live traffic, until Ctrl-C."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import IO, Final

from barnabas.addresses import parse_servers
from barnabas.cli.proxy.job import Job
from barnabas.cli.proxy.options import CaptureOptions, ControlOptions, Log, LogOptions
from barnabas.cli.proxy.run import run_proxy
from barnabas.peers.processes import end, start
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.options import Options
from barnabas.proxy.scenario.file import load
from barnabas.trouble import COULD_NOT_RUN, Trouble

SCENARIO: Final = Path(__file__).with_name("scenario.yaml")

STOP: Final = 10.0
"""Seconds that a process has to end by itself."""


def live_demo(page: Address, capture: Path | None) -> int:
    """Run until a signal ends it; return the exit code. Raises Trouble."""
    if importlib.util.find_spec("confluent_kafka") is None:
        raise Trouble(
            "the demo needs a Kafka client: install barnabas with the extra 'demo'", COULD_NOT_RUN
        )
    with contextlib.ExitStack() as at_end:
        output_lines = at_end.enter_context(_process("barnabas", "peers", "start", "embedded"))
        ready = output_lines.readline()
        if not ready:
            raise Trouble("the embedded cluster did not start, see above", COULD_NOT_RUN)
        bootstrap = json.loads(ready)["ready"]["bootstrap"]

        def began(address: str) -> None:
            at_end.enter_context(_process("barnabas.cli.demo.traffic", address))

        return run_proxy(
            Job(
                Options(parse_servers(bootstrap), ("127.0.0.1", 0), observed=True, drain=0.5),
                scenario=load(SCENARIO),
                control=ControlOptions(web=page),
                log=LogOptions(log=Log.off),  # its lines would scroll the page's address away
                capture=CaptureOptions(capture=capture),
                began=began,
            )
        )


@contextlib.contextmanager
def _process(module: str, *words: str) -> Iterator[IO[str]]:
    """Run a module in a process of its own, which ends after `with`, and yield its output."""
    line = [sys.executable, "-m", module, *words]
    process = start(line, stdin=DEVNULL, stdout=PIPE, text=True)
    assert process.stdout is not None  # noqa: S101
    try:
        yield process.stdout
    finally:
        end(process, STOP)
        process.stdout.close()
