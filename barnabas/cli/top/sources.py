"""The sources of snapshots: the control port of a running proxy, and captures."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any, Final, Protocol
from urllib.parse import urlencode

from barnabas.captures.files.growth import QUIET, Growth
from barnabas.captures.summary.live_figures import Figures
from barnabas.captures.summary.traffic import SECOND
from barnabas.captures.tls.keylog import KeyLog
from barnabas.cli.captures.input import any_bar, opened, read, spoken, undamaged
from barnabas.cli.captures.remarks import remarks
from barnabas.cli.console.output import Output
from barnabas.cli.ctl.port import Port, port_errors

Snapshot = dict[str, Any]
"""See `barnabas.captures.summary.live_figures.Figures.snapshot`."""

Show = Callable[[Snapshot], None]

FIRST_LOOK: Final = 1.0
"""Seconds that a proxy without retained exchanges is watched for one snapshot."""


class Source(Protocol):
    """A source of snapshots."""

    @property
    def name(self) -> str:
        """Return a short name for the person who looks."""

    @property
    def is_live(self) -> bool:
        """Return whether more exchanges may come."""

    def follow(self, show: Show, interval: float, stopped: Event) -> None:
        """Show a snapshot each `interval` seconds until the end or until `stopped` is set. Raises Trouble."""

    def once(self) -> Snapshot:
        """Return the present snapshot. Raises Trouble."""


class ProxySource:
    """The control port of a running proxy."""

    is_live = True

    def __init__(self, port: Port) -> None:
        self._port = port
        self.name = f"proxy {port.control}"

    def follow(self, show: Show, interval: float, stopped: Event) -> None:
        """Show the proxy's snapshots. Raises Trouble."""
        path = f"/figures/stream?{urlencode({'interval': interval})}"
        with port_errors():
            for _, snapshot in self._port.client.events(path):
                show(snapshot)
                if stopped.is_set():
                    return

    def once(self) -> Snapshot:
        """Return the present snapshot; if no exchange is retained, watch the proxy for a moment."""
        stopped, snapshots = Event(), list[Snapshot]()

        def show(snapshot: Snapshot) -> None:
            snapshots.append(snapshot)
            if snapshot["total"]["count"] or len(snapshots) == 2:
                stopped.set()

        self.follow(show, FIRST_LOOK, stopped)
        return snapshots[-1]


class CaptureSource:
    """Captures, read as one: up to their end, or followed while they are being written.

    Args:
        paths: The captures.
        keys: TLS secrets.
        output: Gets notes, and a progress bar.
    """

    def __init__(self, paths: list[Path], keys: KeyLog | None, output: Output) -> None:
        self._paths, self._keys, self._output = paths, keys, output
        capture = opened(*paths, keys=keys)
        self.name = capture.name
        written = max(path.stat().st_mtime for path in capture.reader.paths)
        self.is_live = time.time() - written < QUIET

    def follow(self, show: Show, interval: float, stopped: Event) -> None:
        """Show snapshots of what has been written so far, and one at the end. Raises Trouble."""
        due = 0.0

        def look(now: int) -> None:
            nonlocal due
            if time.monotonic() >= due:
                due = time.monotonic() + interval
                show(figures.snapshot(now))

        def pause(seconds: float) -> bool:
            # the end of the file is the present, unless it was recorded long before
            now = time.time_ns()
            look(now if now - figures.last <= QUIET * SECOND else figures.last or now)
            return stopped.wait(seconds)

        capture = opened(*self._paths, keys=self._keys, growth=Growth(pause))
        figures = Figures(capture.context)
        exchanges = capture.exchanges(spoken=spoken(capture, None))
        for exchange in undamaged(capture, capture.learn(exchanges)):
            figures.add(exchange)
            look(figures.last)
            if stopped.is_set():
                return
        show(figures.snapshot(figures.last))

    def once(self) -> Snapshot:
        """Return the snapshot at the present end of the captures. Raises Trouble."""
        capture = opened(*self._paths, keys=self._keys)
        figures = Figures(capture.context)
        progress = any_bar(self._output, "reading")
        exchanges = capture.exchanges(progress, spoken=spoken(capture, None))
        for exchange in read(capture, capture.learn(exchanges), self._output):
            figures.add(exchange)
        for remark in remarks(capture):
            self._output.note(remark)
        return figures.snapshot(figures.last)
