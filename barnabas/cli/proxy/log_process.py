"""The live log as the proxy sees it: a ring that another process reads.

If the reader exits, it is started again.
"""

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
from barnabas.cli.proxy.log_reader import come_forward, read
from barnabas.cli.proxy.log_stream import LogStream
from barnabas.cli.proxy.options import Log
from barnabas.forking import fork
from barnabas.plural import plural
from barnabas.proxy.network.clock import clock

STALLED: Final = 3.0
"""Seconds in which the reader must make progress at the end."""

ROUNDS: Final = 5
"""The most such periods that the reader gets."""

AGAIN: Final = 1.0
"""Seconds until a reader that exited is started again."""


class LogProcess:
    """The process that reads a stream and prints it.

    stream: The stream as this process writes it; other processes may write it, too.
    """

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
        """Whether the reader was killed before it had printed everything."""
        self._closing = False
        self._dropped_spans = [0]
        """The number of dropped spans of each reader so far."""
        self.told: dict[str, Any] = {}
        """The last report of the reader, when its stream had ended."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._note: Callable[[dict[str, Any]], None] = lambda _: None
        self._fork()

    def attach(
        self, loop: asyncio.AbstractEventLoop, note: Callable[[dict[str, Any]], None]
    ) -> None:
        """Listen to the reader from now on, and restart it if it exits.

        note: Writes a note into the capture.
        """
        self._loop, self._note = loop, note
        if self._gone:
            self._again()
        else:
            self._listen()

    def flush(self, timeout: float = 2.0) -> None:
        """Wait until the stream's contents are printed, at most `timeout` seconds."""
        self._asked += 1
        self.stream.writer.note(clock(), {"barnabas": "flushed", "number": self._asked})
        self._wait(timeout, lambda: self._flushed >= self._asked)

    def close(self) -> None:
        """Wait until the reader has printed the rest; kill a reader that makes no progress."""
        if self._gone:
            self._fork()
        self._closing = True
        self._ring.close()
        come_forward(self._pid)
        progress: tuple[int, int] | None = None
        # as another user than root, the reader keeps its low priority: it may get little CPU time
        for _ in range(ROUNDS):
            if self._gone or progress == (progress := (self._ring.waiting, self._ring.done)):
                break
            self._wait(STALLED, lambda: self._gone)
        if not self._gone:
            self._cut = True
            os.kill(self._pid, signal.SIGKILL)
            self._dead()

    def lost(self, passed: int) -> int:
        """Return how many of `passed` exchanges were not printed; after a reader's crash, at most so many."""
        return self._slow(passed) + int(self.told.get("unwritten", 0))

    def dropped_spans(self) -> int | None:
        """Return the number of spans that the collector did not accept; None: no collector."""
        return None if self._otlp is None else sum(self._dropped_spans)

    def remarks(self, passed: int) -> list[str]:
        """Return notes on what was not printed of `passed` exchanges."""
        slow = "the log's process fell behind the traffic"
        if self._deaths:
            slow += ", or crashed (its last printed exchanges may be counted, too)"
        elif not self.stream.waits:
            slow += " (--log-wait makes the traffic wait for it)"
        counts = {
            slow: self._slow(passed),
            str(self.told.get("broken")): int(self.told.get("unwritten", 0)),
        }
        lines = self._ring.missing_lines
        unprinted = [f"{plural(lines, 'line')} not printed: {slow}"] * (lines > 0)
        return [*self.told.get("remarks", ()), *self._unsent(), *unprinted, *not_printed(counts)]

    def _unsent(self) -> list[str]:
        """Return notes on the dropped spans of readers that exited without reporting them."""
        if self._otlp is None:
            return []
        dropped = sum(self._dropped_spans[: -1 if self.told else None])
        words = [f"{plural(dropped, 'span')} dropped: {self._otlp} did not accept them"]
        if self.told:
            return words * (dropped > 0)
        rest = "spans in the queue of the stopped log reader are lost and not counted"
        return [*words * (dropped > 0), rest]

    def _slow(self, passed: int) -> int:
        """Return the number of exchanges that no reader counted.

        The readers did not reach them, or exited right after printing them.
        """
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
        """Read the reader's reports."""
        try:
            data = os.read(self._report, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            self._dead()
            return
        *lines, self._heard = (self._heard + data).split(b"\n")
        for line in lines:
            report = json.loads(line)
            if "flushed" in report:
                self._flushed = report["flushed"]
            elif "undecodable" in report:
                self._note(report["undecodable"])
            elif "dropped_spans" in report:
                self._dropped_spans[-1] = report["dropped_spans"]
            else:
                self.told = report["over"]

    def _dead(self) -> None:
        """Restart a reader that has exited; the stream waits for the new one."""
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
        with contextlib.suppress(OSError):  # stderr may be closed
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
        """Wait for the end of the reader, and return its exit code."""
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])

    def _wait(self, timeout: float, over: Callable[[], bool]) -> None:
        """Read reports until a condition holds, the reader has exited, or the timeout has passed."""
        until, polled = time.monotonic() + timeout, select.poll()
        polled.register(self._report, select.POLLIN)
        while not (over() or self._gone) and (rest := until - time.monotonic()) > 0:
            if polled.poll(rest * 1000):
                self._hear()
