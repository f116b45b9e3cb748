"""The reader of the live log, in its own process: it prints exchanges and notes, and sends spans."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from barnabas.captures.kafka.context.id_names import names_by_id
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import undecodable
from barnabas.captures.live.reader import LiveReader, Note, RingFile
from barnabas.captures.live.ring import Ring
from barnabas.cli.console.output import Output
from barnabas.cli.console.printer import Printer
from barnabas.cli.proxy.options import Log

if TYPE_CHECKING:
    from barnabas.cli.traces.exporter import Exporter

NICE: Final = 10
"""The nice value of the reader, which leaves a shared core to the traffic; see `stand_back`, too."""

BATCH: Final = 256
"""The most exchanges that are written together."""

SAY_AGAIN: Final = 5.0
"""Seconds between two notes on missing exchanges."""


class LogReader:
    """Prints the contents of a ring until the ring is closed.

    Args:
        ring: The ring.
        output: The output.
        log: The format of exchanges.
        otlp: The collector's URL for spans; None: no spans are sent.
        tell: Reports a value of JSON to the proxy, from any thread.
        behind: Called now and then while the reader lags behind the traffic.
    """

    def __init__(
        self,
        ring: Ring,
        output: Output,
        log: Log,
        otlp: str | None,
        tell: Callable[[dict[str, Any]], None],
        lagging: Callable[[], None],
    ) -> None:
        self._ring = ring
        self._behind = lagging
        self._output = output
        shows = {Log.json: output.json, Log.pretty: output.exchange, Log.off: self._unseen}
        self._printer = Printer(output, output.learning(shows[log]))
        self._exporter: Exporter | None = None
        if otlp is not None:
            from barnabas.cli.traces.exporter import (
                Exporter,
                in_background,
            )  # this module loads slowly

            self._exporter = Exporter(
                otlp,
                output.context,
                self._printer.say,
                in_background,
                lambda count: tell({"dropped_spans": count}),
            )
            output.traced = self._exporter.exchange
        self._tell = tell
        self._restarts = 0
        self._say_next = 0.0
        self._errors: Counter[tuple[int, str]] = Counter()
        output.flag = self._flag
        output.gather()

    def run(self) -> None:
        """Print until the ring is closed; then report the counters."""
        reader = LiveReader(RingFile(self._ring, self._write, os.getppid()), self._note)
        for exchange in reader:
            if reader.restarts > self._restarts:
                self._restarts = reader.restarts
                self._behind()
                self._say_behind()
            if (error := exchange.error) is not None:
                self._errors[exchange.key, error] += 1
            self._printer.exchange(exchange)
            if self._printer.shown >= BATCH:
                self._write()
                if self._ring.waiting > self._ring.size >> 3:
                    self._behind()
        self._write()
        self._over()
        if self._exporter is not None:
            self._exporter.close()
            self._over()  # again, with the final count of accepted spans

    def _over(self) -> None:
        output, exporter = self._output, self._exporter
        report = {
            "remarks": [*output.remarks(), *(exporter.remarks() if exporter else ())],
            "undecoded": output.undecoded,
            "broken": self._printer.broken,
            "unwritten": self._printer.unwritten,
            "errors": [[*kind, count] for kind, count in self._errors.items()],
        }
        self._tell({"over": report})

    def _unseen(self, exchange: Exchange) -> None:
        """Count an exchange without printing it."""
        self._output.look(exchange)

    def _write(self) -> None:
        """Write buffered lines: the ring is empty, or there are many lines."""
        self._ring.done += self._printer.write()

    def _say_behind(self) -> None:
        """Print that exchanges are missing between the preceding and the following one."""
        if (now := time.monotonic()) >= self._say_next:
            self._say_next = now + SAY_AGAIN
            self._say(
                "log: slower than the traffic, exchanges and lines are skipped and counted "
                "(--log-wait waits)"
            )

    def _note(self, note: Note) -> None:
        match note:
            case {"barnabas": "say", "text": str(text)}:
                self._say(text)
                self._ring.count_printed_line()
            case {"barnabas": "topics", "names": names}:
                self._output.context.topics.update(names_by_id(names))
            case {"barnabas": "flushed", "number": int(number)}:
                self._tell({"flushed": number})

    def _say(self, text: str) -> None:
        self._write()
        self._printer.say(text)

    def _flag(self, exchange: Exchange) -> None:
        self._tell({"undecodable": undecodable(exchange)})


def stand_back() -> None:
    """Run only when no other process needs a core, so that a lagging reader takes no time from the traffic.

    Only root can undo it (sched(7)).
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # a container may forbid it
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def come_forward(pid: int) -> None:
    """Undo `stand_back` and the nice value of a reader, where the user may."""
    with contextlib.suppress(OSError):
        if sys.platform == "linux":
            os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, pid, 0)


def read(
    ring: Ring, output: Output, log: Log, otlp: str | None, report: int, awaited: bool
) -> None:
    """Read the ring in a process that was just forked, and report to the proxy on a pipe.

    awaited: Whether the traffic waits for the reader.
    """
    os.nice(NICE)
    one_at_a_time = threading.Lock()  # a pipe mixes long writes, and another thread sends spans

    def tell(value: dict[str, Any]) -> None:
        with one_at_a_time, contextlib.suppress(BrokenPipeError):  # the proxy was killed
            os.write(report, json.dumps(value).encode() + b"\n")

    LogReader(ring, output, log, otlp, tell, (lambda: None) if awaited else stand_back).run()
