"""`barnabas demo --web`: the page over live traffic, until Ctrl-C."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from barnabas.addresses import parse_servers
from barnabas.cli.proxy.job import Job
from barnabas.cli.proxy.options import CaptureOptions, ControlOptions, Log, LogOptions
from barnabas.cli.proxy.run import run_proxy
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.options import Options
from barnabas.proxy.scenario.file import load
from barnabas.trouble import COULD_NOT_RUN, Trouble

SCENARIO: Final = Path(__file__).with_name("scenario.yaml")


def live_demo(page: Address, capture: Path | None) -> int:
    """Run until a signal asks it to end; returns the exit code."""
    if importlib.util.find_spec("confluent_kafka") is None:
        raise Trouble("the demo needs a Kafka client: pip install 'barnabas[demo]'", COULD_NOT_RUN)
    with contextlib.ExitStack() as at_end:
        said = at_end.enter_context(
            _process("barnabas", "--until-eof", "peers", "start", "embedded")
        )
        ready = said.readline()
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
                log=LogOptions(log=Log.off),  # its lines would bury the page's address
                capture=CaptureOptions(capture=capture),
                began=began,
            )
        )


@contextlib.contextmanager
def _process(module: str, *words: str) -> Iterator[IO[str]]:
    """A module that runs in a process of its own, which ends with its stdin; what it prints."""
    process = subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-m", module, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for the proxy, which drains first
    )
    try:
        assert process.stdin is not None  # noqa: S101
        assert process.stdout is not None  # noqa: S101
        yield process.stdout
    finally:
        process.communicate()
