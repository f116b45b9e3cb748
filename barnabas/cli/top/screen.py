"""Show the snapshots of a source on the whole terminal until the person quits or the source ends."""

from __future__ import annotations

import functools
import threading
from typing import Final

from rich.live import Live

from barnabas.cli.console.terminal import Terminal
from barnabas.cli.top.keyboard import keyboard
from barnabas.cli.top.sources import Snapshot, Source
from barnabas.cli.top.tables import drawn
from barnabas.cli.top.view import View

TICK: Final = 0.1
"""Seconds between two looks at the source; a new size of the terminal is also seen then."""


class Following:
    """A thread that follows a source, and the latest snapshot."""

    def __init__(self, source: Source, interval: float) -> None:
        self.latest: Snapshot | None = None
        self.is_over = False
        self.problem: BaseException | None = None
        self.stopped = threading.Event()
        self._source, self._interval = source, interval
        threading.Thread(target=self._run, name="top", daemon=True).start()

    def _run(self) -> None:
        try:
            self._source.follow(self._show, self._interval, self.stopped)
        except BaseException as problem:  # noqa: BLE001 - raised again where the command runs
            self.problem = problem
        self.is_over = True

    def _show(self, snapshot: Snapshot) -> None:
        self.latest = snapshot


def watch(source: Source, interval: float, out: Terminal) -> Snapshot | None:
    """Show snapshots; return the last one, or None if the person has quit. Raises Trouble."""
    view, shown, size = View(), None, out.size
    following = Following(source, interval)
    try:
        with (
            keyboard() as terminal_keys,
            Live(console=out, screen=True, auto_refresh=False, vertical_overflow="crop") as live,
        ):
            while not view.is_over:
                keys = terminal_keys.keys(TICK)
                view = functools.reduce(View.press, keys, view)
                latest = shown if view.is_paused and shown is not None else following.latest
                is_new = latest is not shown or keys or out.size != size
                if latest is not None and is_new:
                    shown, size = latest, out.size
                    live.update(drawn(shown, view, source.name, size), refresh=True)
                if following.is_over:
                    break
    except KeyboardInterrupt:
        # one that comes while Live begins leaves the terminal on its screen
        out.set_alt_screen(enable=False)
        out.show_cursor()
        return None
    finally:
        following.stopped.set()
    if following.problem is not None:
        raise following.problem
    return None if view.is_over else following.latest
