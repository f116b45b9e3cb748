"""The proxy of barnabas as a target, in front of the bench's broker; each runs in its own process.

librdkafka's mock can't be the broker: messages that a proxy forwards would crash it, and the proxy would
be blamed.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO, Final

from barnabas.fuzz.cases.observation import Death
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.process_usage import rss
from barnabas.fuzz.targets.registry import TargetKind
from barnabas.fuzz.targets.target import Target
from barnabas.location import ROOT
from barnabas.peers.processes import end, start

LAST_WORDS: Final = 4000
"""The last characters of its output that are stored when it exits."""

STOPPING_S: Final = 5.0
"""Seconds that a process has to end by itself."""

_SCENARIO: Final = """\
version: 1
rules:
  - {name: looked at, match: {direction: request}, where: "acks == `9`", do: {delay: 1ms}}
  - {name: looked at too, match: {direction: response, topic: nobody}, do: {delay: 1ms}}
"""


class ProxyService:
    """A proxy that logs bodies as JSON and writes a capture, so that all its parts read the cases."""

    name = "our proxy"

    def __init__(self) -> None:
        self.address = ("", 0)
        self._stack = contextlib.ExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        self._said: Path | None = None
        self._read = 0

    def start(self) -> None:
        """Start the broker and the proxy. Raises CannotRun."""
        self.stop()
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="barnabas-")))
            upstream = _started(
                stack, "barnabas.fuzz.bench_broker.process", stderr=subprocess.DEVNULL
            )
            bootstrap = _line(upstream)
            self._said = folder / "stderr.txt"
            stderr = stack.enter_context(self._said.open("wb"))
            scenario = folder / "scenario.yaml"
            scenario.write_text(_SCENARIO)
            self._process = _started(
                stack,
                *("barnabas", "proxy", "-b", bootstrap, "--listen", "127.0.0.1:0"),
                *("--log", "json", "--scenario", str(scenario)),
                *("--capture", str(folder / "capture.pcapng"), "--capture-limit", "1GiB"),
                stderr=stderr,
            )
            try:
                listen = json.loads(_line(self._process))["ready"]["listen"]
            except (ValueError, KeyError):
                raise CannotRun(f"the proxy did not start: {self._words()}") from None
            self._drain()
            host, port = listen.rsplit(":", 1)
            self.address = (host, int(port))
            self._read = 0
            self._stack = stack.pop_all()

    def stop(self) -> None:
        """End the broker and the proxy."""
        self._process = None
        self._stack.close()

    def death(self) -> Death | None:
        """Return how the proxy exited; None: it runs."""
        if self._process is None or self._process.poll() is None:
            return None
        return Death(self._process.returncode, self._words())

    def log(self) -> tuple[str, ...]:
        """Return Python's tracebacks that the proxy printed on stderr since the last call."""
        if self._said is None:
            return ()
        text = self._said.read_text(errors="replace")[self._read :]
        self._read += len(text)
        return tracebacks(text)

    def rss(self) -> tuple[int, int] | None:
        """Return the memory of the proxy's process."""
        return rss(self._process.pid) if self._process else None

    def heap(self) -> tuple[int, int] | None:
        """Return None: the proxy is no JVM."""
        return None

    def _words(self) -> str:
        text = self._said.read_text(errors="replace") if self._said is not None else ""
        return text[-LAST_WORDS:]

    def _drain(self) -> None:
        """Read the proxy's log, which would otherwise fill the pipe and block the proxy."""
        assert self._process is not None  # noqa: S101
        log = self._process.stdout

        def read() -> None:
            with contextlib.suppress(OSError, ValueError):
                while log is not None and log.read1(1 << 16):  # type: ignore[attr-defined]
                    pass

        threading.Thread(target=read, name="proxy's log", daemon=True).start()


def tracebacks(text: str) -> tuple[str, ...]:
    r"""Return the tracebacks in a text, each with the line of its exception.

    >>> tracebacks("fine\nTraceback (most recent call last):\n  File x\nE: y\nfine\n")
    ('Traceback (most recent call last):\n  File x\nE: y',)
    """
    traces: list[list[str]] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("Traceback "):
            traces.append([])
            inside = True
        if inside:
            traces[-1].append(line)
            inside = line.startswith((" ", "Traceback "))
    return tuple("\n".join(lines) for lines in traces)


def _started(
    stack: contextlib.ExitStack, module: str, *words: str, stderr: int | IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start a module in a process of its own, which the stack ends."""
    process = start(
        [sys.executable, "-P", "-m", module, *words],
        stdin=subprocess.PIPE,  # the broker of the bench serves until it is closed
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None  # noqa: S101
        stack.enter_context(pipe)
    stack.callback(end, process, STOPPING_S)
    return process


def _line(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None  # noqa: S101
    return process.stdout.readline().decode().strip()


def _make(text: str, owned: bool) -> Target:
    if text:
        raise Misuse(f"proxy:{text}: the target takes no name; write proxy")
    return BrokerTarget(ProxyService(), batch=128, connections=16, timeout=0.5)


PROXY: Final = TargetKind(
    "proxy", "broker", "barnabas' own proxy, in front of the bench's broker", "proxy", _make
)
