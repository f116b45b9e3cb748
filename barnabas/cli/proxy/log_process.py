"""The live log as the proxy sees it: a ring that another process reads, which is started again if it dies."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from barnabas.cli.console.output import Output
from barnabas.cli.console.printer import not_printed
from barnabas.cli.proxy.log_reader import read
from barnabas.cli.proxy.log_stream import LogStream
from barnabas.cli.proxy.options import Log
from barnabas.forking import fork
from barnabas.plural import plural
from barnabas.proxy.network.clock import clock

STALLED: Final = 3.0
"""Seconds in which the reader, at the end, must make progress."""

ROUNDS: Final = 5
"""How many such spans the reader gets at most."""

AGAIN: Final = 1.0
"""Seconds until a reader that died is started again."""


class LogProcess:
    """The reader of a stream, which others may write, too; `stream` is this process' own."""

    def __init__(
        self, output: Output, stream: LogStream, log: Log, otlp: str | None = None
    ) -> None:
        self._output = output
        self._log = log
        self._otlp = otlp
        self._ring = stream.ring
        self.stream = stream
        self._flushed = self._asked = 0
        self._deaths = 0
        self._cut = False
        """Whether the reader had to leave what still waited in the end."""
        self._closing = False
        self._dropped_spans = [0]
        """Of each reader so far."""
        self.told: dict[str, Any] = {}
        """What the reader said when it was over."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._note: Callable[[dict[str, Any]], None] = lambda _: None
        self._fork()

    def attach(
        self, loop: asyncio.AbstractEventLoop, note: Callable[[dict[str, Any]], None]
    ) -> None:
        """Hear from now on what the reader has to tell, and whether it dies. note: for the capture."""
        self._loop, self._note = loop, note
        if self._gone:
            self._again()
        else:
            self._listen()

    def flush(self, timeout: float = 2.0) -> None:
        """Wait until all that was handed over before is printed."""
        self._asked += 1
        self.stream.writer.note(clock(), {"barnabas": "flushed", "number": self._asked})
        self._wait(timeout, lambda: self._flushed >= self._asked)

    def close(self) -> None:
        """Print what still waits; a reader that makes no progress is left behind."""
        if self._gone:
            self._fork()
        self._closing = True
        self._ring.close()
        progress: tuple[int, int] | None = None
        # the reader has a low priority: other processes may leave it little of the cores
        for _ in range(ROUNDS):
            if self._gone or progress == (progress := (self._ring.waiting, self._ring.done)):
                break
            self._wait(STALLED, lambda: self._gone)
        if not self._gone:
            self._cut = True
            os.kill(self._pid, signal.SIGKILL)
            self._dead()

    def lost(self, passed: int) -> int:
        """Exchanges that were not printed, of so many that have passed; of a reader that died, at most."""
        return self._slow(passed) + int(self.told.get("unwritten", 0))

    def dropped_spans(self) -> int | None:
        """Spans that the collector did not take, as far as is known; None: there is none."""
        return None if self._otlp is None else sum(self._dropped_spans)

    def remarks(self, passed: int) -> list[str]:
        """What was not shown of so many exchanges, and why, in words."""
        slow = "the log's process fell behind the traffic"
        if self._deaths:
            slow += ", or ended (what it printed last may be counted, too)"
        elif not self.stream.waits:
            slow += " (--log-wait makes the traffic wait for it)"
        why = {
            slow: self._slow(passed),
            str(self.told.get("broken")): int(self.told.get("unwritten", 0)),
        }
        return [*self.told.get("remarks", ()), *self._unsent(), *not_printed(why)]

    def _unsent(self) -> list[str]:
        """Name the spans that were dropped by readers that did not say so in the end."""
        if self._otlp is None:
            return []
        dropped = sum(self._dropped_spans[: -1 if self.told else None])
        words = [f"{plural(dropped, 'span')} dropped: {self._otlp} did not take them"]
        if self.told:
            return words * (dropped > 0)
        rest = "spans that waited when the log's reader was ended are lost, and not counted"
        return [*words * (dropped > 0), rest]

    def _slow(self, passed: int) -> int:
        """Exchanges that the reader did not count: it never came to them, or died right behind printing."""
        if not (self._ring.lossy or self._deaths or self._cut):
            return 0
        return max(passed - self._ring.done, 0)

    def _fork(self) -> None:
        self._gone, self._heard = False, b""
        self._report, report = os.pipe()
        options = self._log, self._otlp, report, self.stream.waits
        main = partial(read, self._ring, self._output, *options)
        self._pid = fork(main, [self._ring.woken, report], "log")
        os.close(report)
        os.set_blocking(self._report, False)

    def _hear(self) -> None:
        """What the reader told meanwhile."""
        try:
            data = os.read(self._report, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            self._dead()
            return
        *lines, self._heard = (self._heard + data).split(b"\n")
        for line in lines:
            said = json.loads(line)
            if "flushed" in said:
                self._flushed = said["flushed"]
            elif "undecodable" in said:
                self._note(said["undecodable"])
            elif "dropped_spans" in said:
                self._dropped_spans[-1] = said["dropped_spans"]
            else:
                self.told = said["over"]

    def _dead(self) -> None:
        """The reader is gone: what passes from now on waits for the next."""
        self._gone = True
        if self._loop is not None:
            self._loop.remove_reader(self._report)
        os.close(self._report)
        code = self._reap()
        if self._closing:
            return
        self._deaths += 1
        self._dropped_spans.append(0)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        with contextlib.suppress(OSError):  # nobody is there to be told
            print(
                f"log: its reader ended ({how}) and is started again", file=sys.stderr, flush=True
            )
        self.stream.sink.begin_again()
        if self._loop is not None:
            self._loop.call_later(AGAIN, self._again)

    def _again(self) -> None:
        if self._gone and not self._closing:
            self._fork()
            self._listen()

    def _listen(self) -> None:
        if self._loop is not None:
            self._loop.add_reader(self._report, self._hear)

    def _reap(self) -> int:
        """The exit code of the reader, which is about to end."""
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])

    def _wait(self, timeout: float, over: Callable[[], bool]) -> None:
        """Hear the reader until something holds, or it is gone, or for some seconds."""
        until, polled = time.monotonic() + timeout, select.poll()
        polled.register(self._report, select.POLLIN)
        while not (over() or self._gone) and (rest := until - time.monotonic()) > 0:
            if polled.poll(rest * 1000):
                self._hear()
