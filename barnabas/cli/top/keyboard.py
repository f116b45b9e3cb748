"""Read single keys from a terminal."""

from __future__ import annotations

import codecs
import os
import re
import select
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

NAMES: Final = {
    "\x1b[D": "left",
    "\x1b[C": "right",
    "\x1bOD": "left",
    "\x1bOC": "right",
    "\x1b": "escape",
    "\t": "tab",
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
}
"""The names of keys that are no printable character."""

_KEY: Final = re.compile(r"\x1b(?:\[[0-9;]*[ -/]*[@-~]|O.)?|.", re.DOTALL)


_UNFINISHED: Final = re.compile(r"\x1b(?:\[[0-9;]*[ -/]*|O)?\Z")

REST: Final = 0.05
"""Seconds to wait for the rest of a key whose first bytes have come; without one, the key is escape."""


def keys_in(text: str) -> list[str]:
    r"""Return the keys of the text that a terminal sends; a key without a meaning is empty.

    >>> keys_in("a\x1b[D\x1b[3~\x1b/")
    ['a', 'left', '', 'escape', '/']
    """
    return [NAMES.get(key, "" if len(key) > 1 else key) for key in _KEY.findall(text)]


class Keyboard:
    """The keys of a terminal; without one there are none."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def keys(self, timeout: float) -> list[str]:
        """Return the next keys, waiting at most `timeout` seconds; empty: no key was pressed."""
        if self._descriptor is None:
            time.sleep(timeout)
            return []
        ready, _, _ = select.select([self._descriptor], [], [], timeout)
        if not ready:
            return []
        text = ""
        while ready:
            pressed = os.read(self._descriptor, 256)
            if not pressed:
                return ["q"]  # the terminal is gone
            text += self._decoder.decode(pressed)
            if not _UNFINISHED.search(text):
                break
            ready, _, _ = select.select([self._descriptor], [], [], REST)
        return keys_in(text)


@contextmanager
def keyboard() -> Iterator[Keyboard]:
    """Yield the keyboard of stdin, whose keys are read at once and not echoed within `with`."""
    if not sys.stdin.isatty():
        yield Keyboard(None)
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield Keyboard(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
