"""Our own proxy as a target: in a process of its own, before the bench's broker in another one.

The embedded cluster is no good behind it: it dies of what a proxy passes on, and would be blamed on it.
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

LAST_WORDS: Final = 4000
"""Characters of what it printed that are kept when it ends."""

STOPPING_S: Final = 5.0

_SCENARIO: Final = """\
version: 1
rules:
  - {name: looked at, match: {direction: request}, where: "acks == `9`", do: {delay: 1ms}}
  - {name: looked at too, match: {direction: response, topic: nobody}, do: {delay: 1ms}}
"""


class ProxyService:
    """The proxy: it logs bodies as JSON and writes a capture, so that all of it reads what comes."""

    name = "our proxy"

    def __init__(self) -> None:
        self.address = ("", 0)
        self._stack = contextlib.ExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        self._said: Path | None = None
        self._read = 0

    def start(self) -> None:
        """Start both. Raises CannotRun."""
        self.stop()
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="barnabas-")))
            upstream = _start(
                stack, ["-P", "-m", "barnabas.fuzz.bench_broker.process"], subprocess.DEVNULL
            )
            where = _line(upstream)
            self._said = folder / "stderr.txt"
            said = stack.enter_context(self._said.open("wb"))
            scenario = folder / "scenario.yaml"
            scenario.write_text(_SCENARIO)
            self._process = _start(
                stack,
                [
                    "-P", "-m", "barnabas", "--until-eof", "proxy", "-b", where,
                    "--listen", "127.0.0.1:0", "--log", "json", "--scenario", str(scenario),
                    "--capture", str(folder / "capture.pcapng"), "--capture-limit", "1GiB",
                ],
                said,
            )  # fmt: skip
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
        """End both."""
        self._process = None
        self._stack.close()

    def death(self) -> Death | None:
        """How the proxy ended."""
        if self._process is None or self._process.poll() is None:
            return None
        return Death(self._process.returncode, self._words())

    def log(self) -> tuple[str, ...]:
        """Python's tracebacks in what it printed for the person; the rest are its usual lines."""
        if self._said is None:
            return ()
        text = self._said.read_text(errors="replace")[self._read :]
        self._read += len(text)
        return tracebacks(text)

    def rss(self) -> tuple[int, int] | None:
        """Its memory."""
        return rss(self._process.pid) if self._process else None

    def heap(self) -> tuple[int, int] | None:
        """It is no JVM."""
        return None

    def _words(self) -> str:
        text = self._said.read_text(errors="replace") if self._said is not None else ""
        return text[-LAST_WORDS:]

    def _drain(self) -> None:
        """Somebody must read its log, or it waits."""
        assert self._process is not None  # noqa: S101
        log = self._process.stdout

        def read() -> None:
            with contextlib.suppress(OSError, ValueError):
                while log is not None and log.read1(1 << 16):  # type: ignore[attr-defined]
                    pass

        threading.Thread(target=read, name="proxy's log", daemon=True).start()


def tracebacks(text: str) -> tuple[str, ...]:
    r"""The tracebacks in a text, each with the line of its exception.

    >>> tracebacks("fine\nTraceback (most recent call last):\n  File x\nE: y\nfine\n")
    ('Traceback (most recent call last):\n  File x\nE: y',)
    """
    found: list[list[str]] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("Traceback "):
            found.append([])
            inside = True
        if inside:
            found[-1].append(line)
            inside = line.startswith((" ", "Traceback "))
    return tuple("\n".join(lines) for lines in found)


def _start(
    stack: contextlib.ExitStack, arguments: list[str], stderr: int | IO[bytes]
) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(  # noqa: S603 - our own modules
        [sys.executable, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    stack.callback(_end, process)
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    try:
        process.wait(STOPPING_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _line(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None  # noqa: S101
    return process.stdout.readline().decode().strip()


def _make(text: str, own: bool) -> Target:
    if text:
        raise Misuse(f"proxy:{text}: the target takes no name; write proxy")
    return BrokerTarget(ProxyService(), batch=128, connections=16, timeout=0.5)


PROXY: Final = TargetKind(
    "proxy", "broker", "barnabas' own proxy, in front of an embedded broker", "proxy", _make
)
