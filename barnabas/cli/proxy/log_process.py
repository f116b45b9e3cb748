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
from typing import Any, Final

from barnabas.captures.live.ring import Ring
from barnabas.captures.live.writer import LiveWriter
from barnabas.captures.writing.flow_writer import Comment
from barnabas.cli.console.output import Output
from barnabas.cli.console.printer import not_printed
from barnabas.cli.proxy.log_reader import run_forked
from barnabas.plural import plural
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.server import Proxy

AGAIN: Final = 1.0
"""Seconds until a reader that died is started again."""

CAUGHT_UP: Final = 0.005
"""Seconds between two looks whether traffic that waits for the log can go on."""


class LogProcess:
    """Hands what passed, and lines for the person, to the reader, in order.

    meta: what a capture says of itself. waits: whether traffic waits for a reader that is behind; if not,
    the reader does without what does not fit into the ring.
    """

    def __init__(
        self,
        output: Output,
        *,
        as_json: bool,
        meta: Comment,
        waits: bool = False,
    ) -> None:
        self._output = output
        self._as_json = as_json
        self._ring = Ring()
        self.writer = LiveWriter(self._ring, meta, self._low if waits else lambda: None)
        self._waiting = False
        self._flushed = self._asked = 0
        self._unsaid = 0
        self._deaths = 0
        self._cut = False
        """Whether the reader had to leave what still waited in the end."""
        self._closing = False
        self.told: dict[str, Any] = {}
        """What the reader said when it was over."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._proxy: Proxy | None = None
        self._fork()

    def attach(self, loop: asyncio.AbstractEventLoop, proxy: Proxy) -> None:
        """Hear from now on what the reader has to tell, and whether it dies."""
        self._loop, self._proxy = loop, proxy
        if self._gone:
            self._again()
        else:
            self._listen()

    def line(self, text: str) -> None:
        """Print a line for the person soon; where there is no room, their number is printed later."""
        if self._unsaid and self._say(
            f"{plural(self._unsaid, 'line')} not printed: the terminal was too slow"
        ):
            self._unsaid = 0
        self._unsaid += not self._say(text)

    def flush(self, timeout: float = 2.0) -> None:
        """Wait until all that was handed over before is printed."""
        self._asked += 1
        self.writer.note(clock(), {"barnabas": "flushed", "number": self._asked})
        self._wait(timeout, lambda: self._flushed >= self._asked)

    def close(self, timeout: float = 2.0) -> None:
        """Print what still waits, within some seconds."""
        if self._gone:
            self._fork()
        self._closing = True
        self._ring.close()
        self._wait(timeout, lambda: self._gone)
        if not self._gone:
            self._cut = True
            os.kill(self._pid, signal.SIGKILL)
            self._dead()

    @property
    def lost(self) -> int:
        """Exchanges that were not printed."""
        return self._slow + int(self.told.get("unwritten", 0))

    @property
    def remarks(self) -> list[str]:
        """What was not shown, and why, in words."""
        slow = "the log's reader was too slow" + (", or ended" if self._deaths else "")
        why = {
            slow: self._slow,
            str(self.told.get("broken")): int(self.told.get("unwritten", 0)),
        }
        return [*self.told.get("remarks", ()), *not_printed(why)]

    @property
    def _slow(self) -> int:
        """Exchanges that the reader never saw; what it has not come to yet is among them."""
        stats = self.writer.sink.stats
        if self._proxy is None or not (stats.lost_packets or self._deaths or self._cut):
            return 0
        return max(self._proxy.tally.total - self._ring.done, 0)

    def _low(self) -> None:
        """The ring is nearly full: traffic waits, from the loop's next turn on."""
        if not self._waiting and self._loop is not None and self._proxy is not None:
            self._waiting = True
            self._loop.call_soon(self._proxy.wait, True)
            self._loop.call_later(CAUGHT_UP, self._caught_up)

    def _caught_up(self) -> None:
        if self._loop is None or self._proxy is None:
            return
        self._waiting = self._ring.free < self._ring.size >> 1
        if self._waiting:
            self._loop.call_later(CAUGHT_UP, self._caught_up)
        else:
            self._proxy.wait(False)

    def _say(self, text: str) -> bool:
        return self.writer.note(clock(), {"barnabas": "say", "text": text})

    def _fork(self) -> None:
        self._gone, self._heard = False, b""
        self._report, report = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self._pid = os.fork()
        if not self._pid:
            run_forked(self._ring, self._output, self._as_json, report)
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
                if self._proxy is not None:
                    self._proxy.note(said["undecodable"])
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
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        with contextlib.suppress(OSError):  # nobody is there to be told
            print(
                f"log: its reader ended ({how}) and is started again", file=sys.stderr, flush=True
            )
        self._ring.forget()
        self.writer.sink.begin()
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
        until = time.monotonic() + timeout
        while not (over() or self._gone) and (rest := until - time.monotonic()) > 0:
            if select.select([self._report], [], [], rest)[0]:
                self._hear()
