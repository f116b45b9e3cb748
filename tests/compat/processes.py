"""The proxy and a capture, as a person starts them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.finding import Check, Finding
from barnabas.captures.checks.runner import run
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.specs import api
from barnabas.specs.broker_addresses import address_fields, patch
from tests.places import ROOT

DEADLINE: Final = 60.0
"""Seconds in which they end."""

HERE: Final = ROOT


@dataclass(slots=True)
class RunningProxy:
    """`barnabas proxy` in front of a cluster."""

    listen: str
    stderr: IO[str]
    capture: Path
    exchanges: int = 0
    """In its capture; known at its end."""
    undecoded: int = 0
    """Of these, with frames that could not be read; known at its end."""
    shown: int = 0
    """Lines of its log; known at its end."""
    told: set[str] = field(default_factory=set)
    """Brokers' addresses that its clients were told, as host:port; known at its end."""
    complaints: list[str] = field(default_factory=list)
    """What it and its capture say of frames that could not be read; known at its end."""
    found: list[tuple[Check, Finding]] = field(default_factory=list)
    """What `barnabas check` says of its capture; known at its end."""

    @property
    def findings(self) -> list[str]:
        """The same in words, notes left out."""
        return in_words(self.found)

    @property
    def listeners(self) -> frozenset[str]:
        """Its addresses, as host:port: where clients begin, and one for each broker."""
        text = os.pread(self.stderr.fileno(), 1 << 20, 0).decode()
        return frozenset([self.listen, *re.findall(r"^listening on (\S+) for broker", text, re.M)])


@contextlib.contextmanager
def proxy(bootstrap: str, log: str = "off", capture: Path | None = None) -> Iterator[RunningProxy]:
    """Start a proxy, and end it as Ctrl-C would. capture: where it is written, if it is to stay."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "said").open("w+") as stderr:
        capture = capture or Path(folder) / "run.pcapng"
        options = ("--listen", "127.0.0.1:0", "--log", log, "--capture", str(capture))
        with (
            subprocess.Popen(
                [*_BARNABAS, "proxy", "--bootstrap-server", bootstrap, *options],
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                cwd=HERE,
            ) as process,
            ThreadPoolExecutor(1) as reader,
        ):
            assert process.stdout is not None
            try:
                ready = json.loads(process.stdout.readline())["ready"]
                lines = reader.submit(
                    _count, process.stdout
                )  # it never waits for who reads its log
                running = RunningProxy(ready["listen"], stderr, capture)
                yield running
                process.send_signal(signal.SIGINT)
                process.wait(DEADLINE)
            finally:
                process.kill()
            running.shown = lines.result()
        running.complaints += _complaints(process.returncode, Path(stderr.name), running)
        running.found += _found(capture)


def _count(lines: Iterable[str]) -> int:
    return sum(1 for _ in lines)


@dataclass(slots=True)
class Wire:
    """`barnabas capture` beside a cluster."""

    trouble: str = ""
    """Why there is nothing: capturing needs a right that most users don't have."""
    exchanges: int = 0
    complaints: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


@contextlib.contextmanager
def wire(bootstrap: str) -> Iterator[Wire]:
    """Capture what passes on loopback from and to brokers; what it shows is known at its end."""
    ports = [address.rpartition(":")[2] for address in bootstrap.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "wire.pcapng"
        options = [option for port in ports for option in ("--port", port)]
        with subprocess.Popen(
            [*_BARNABAS, "capture", "--interface", LOOPBACK, "--out", str(capture), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=HERE,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            wired = Wire()
            try:
                ready = process.stdout.readline()
                yield wired
                process.send_signal(signal.SIGINT)
                process.wait(DEADLINE)
            finally:
                process.kill()
            if not ready:
                wired.trouble = process.stderr.read().strip()
                return
        # what brokers said to each other before it began can't be read: no complaint
        exchanges = list(Conversations().exchanges(CaptureReader(capture)))
        wired.exchanges = len(exchanges)
        wired.complaints += _unread(exchanges)
        wired.findings += in_words(_found(capture))


_BARNABAS: Final = (sys.executable, "-m", "barnabas")

LOOPBACK: Final = "lo" if sys.platform == "linux" else "lo0"

_UNREAD: Final = re.compile(
    r"\d+ frames undecodable, forwarded unchanged|Traceback.*|lost \d+ packets", re.S
)


def _complaints(code: int, said: Path, running: RunningProxy) -> Iterator[str]:
    if code:
        yield f"the proxy ended with {code}"
    yield from _UNREAD.findall(said.read_text())
    conversations = Conversations()

    def counted() -> Iterator[Exchange]:
        for exchange in conversations.exchanges(CaptureReader(running.capture)):
            running.exchanges += 1
            running.undecoded += bool(exchange.undecodable)
            running.told |= _told(exchange)
            yield exchange

    yield from _unread(counted())
    if conversations.undecoded or conversations.skipped:
        yield f"unknown in its capture: {conversations.undecoded} frames"


def _told(exchange: Exchange) -> set[str]:
    """The brokers' addresses in a response."""
    found: set[str] = set()

    def note(kind: str, node: int, host: str, port: int) -> None:
        if host and port > 0:  # an error has none
            found.add(f"{host}:{port}")

    known = exchange.response_body is not None and not exchange.undecodable
    if known and address_fields(exchange.key, exchange.version):
        patch(exchange.key, exchange.version, exchange.response_body or b"", note)
    return found


def _unread(exchanges: Iterable[Exchange]) -> list[str]:
    return sorted(
        {
            f"{api(exchange.key).name} v{exchange.version} {exchange.undecodable}"
            for exchange in exchanges
            if exchange.undecodable
        }
    )


def _found(capture: Path) -> list[tuple[Check, Finding]]:
    exchanges = Conversations(strays=True).exchanges(CaptureReader(capture))
    return list(run(exchanges, CHECKS))


def in_words(found: Iterable[tuple[Check, Finding]]) -> list[str]:
    """What was found, without notes: they belong to healthy operation."""
    return [
        f"{check.name}: {finding.what}" for check, finding in found if finding.severity != "note"
    ]
