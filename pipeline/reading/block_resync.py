"""Finds the next block of a file: after a corrupt region, or in a range that was cut at any byte.

An offset is accepted if a few consecutive blocks start there. That is no proof: a file that was cut is
checked for ranges that meet (`plan.py`), and after a corrupt region sequential reading finds the same offset.
"""

from __future__ import annotations

import re
import struct
from typing import Final

from barnabas.captures.files.pcapng import (
    AROUND,
    NUMBERED,
    SECTION,
    Buffer,
    CaptureError,
    block_head,
    check_end,
)
from barnabas.pipeline.reading.ranges import State

_CHAIN: Final = 4
"""Consecutive blocks that confirm an offset; fewer at the file's end."""
_KINDS: Final = (SECTION, 1, 2, 3, 4, 5, 6, 10, *NUMBERED)
_SNAPLEN: Final = 1 << 18
"""The longest packet in a pcap file that confirms an offset, in bytes."""
_PAUSE: Final = 86_400
"""The longest time between two packets that confirm an offset, in seconds."""

_BLOCKS: Final = {
    "<": re.compile(rb"(?=[\x01-\x06\x0a]\0\0\0.{2}[\0-\x04]\0|\n\r\r\n)", re.DOTALL),
    ">": re.compile(rb"(?=\0\0\0[\x01-\x06\x0a]\0[\0-\x04]|\n\r\r\n)", re.DOTALL),
}
_RECORDS: Final = {
    "<": re.compile(rb"(?=.{7}[\0-\x3b].{2}[\0-\x04]\0.{2}[\0-\x0f]\0)", re.DOTALL),
    ">": re.compile(rb"(?=.{4}[\0-\x3b].{3}\0[\0-\x04].{2}\0[\0-\x0f])", re.DOTALL),
}


def resync(data: Buffer, start: int, stop: int, state: State, *, whole: bool = True) -> int | None:
    """Return the first offset from `start` on and before `stop` at which a block seems to begin, or None.

    `whole` says whether the data extends to the file's end.
    """
    if state.layout is None:
        pattern, holds = _BLOCKS[state.order], _block_holds
    else:
        pattern, holds = _RECORDS[state.layout.order], _record_holds
    # a match looks ahead: it may need some bytes after its first byte
    for match in pattern.finditer(data, start, min(stop + 16, len(data))):
        at = match.start()
        if at >= stop:
            break
        if holds(data, at, state, whole):
            return at
    return None


def _block_holds(data: Buffer, at: int, state: State, whole: bool) -> bool:
    order = state.order
    try:
        for before in range(_CHAIN):
            if len(data) - at < AROUND:
                return before > 0
            order, kind, length = block_head(data, at, order, at)
            if kind not in _KINDS:
                return False
            if at + length > len(data):
                return not whole  # what is cut off proves nothing
            check_end(data, at, order, length, at)
            at += length
    except CaptureError:
        return False
    return True


def _record_holds(data: Buffer, at: int, state: State, whole: bool) -> bool:
    layout = state.layout
    assert layout is not None  # noqa: S101
    last = None
    for _ in range(_CHAIN):
        if len(data) - at < layout.size:
            return last is not None
        seconds, ticks, length, original = struct.unpack_from(layout.order + "4I", data, at)
        if length > min(original, _SNAPLEN) or ticks * layout.tick >= 10**9 or not original:
            return False
        if last is not None and abs(seconds - last) > _PAUSE:
            return False
        if at + layout.size + length > len(data):
            return not whole and last is not None
        last = seconds
        at += layout.size + length
    return True
