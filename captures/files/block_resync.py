"""Find the next block of a capture file after damage.

An offset is accepted if a few consecutive blocks start there, which is no proof.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from barnabas.captures.files.pcapng import (
    AROUND,
    NUMBERED,
    SECTION,
    Buffer,
    CaptureError,
    block_head,
    check_end,
)
from barnabas.captures.files.read_buffer import ReadBuffer

CHAIN: Final = 4
"""Consecutive blocks that confirm an offset; fewer at the file's end."""
_AHEAD: Final = 1 << 20
"""Bytes after an offset that may confirm it."""
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


class RecordLayout(NamedTuple):
    """The layout of a pcap file's records: `size` is the bytes before a packet, `tick` in ns."""

    order: str
    tick: int
    size: int
    linktype: int


Holds = Callable[[Buffer, int, bool], bool]
"""A function of data, an offset, and whether the data extends to the file's end: is there a block?"""


def skip_to_block(window: ReadBuffer, order: str, *, least: int = 1) -> None:
    """Advance to the next block of a pcapng file, at least by one byte; without one, to its end.

    Args:
        window: The file.
        order: The byte order of the section.
        least: Blocks that confirm an offset near the file's end.
    """
    _skip(window, _BLOCKS[order], partial(_block_holds, order, least))


def skip_to_record(window: ReadBuffer, layout: RecordLayout, *, least: int = 1) -> None:
    """Advance to the next record of a pcap file, at least by one byte; without one, to its end.

    Args:
        window: The file.
        layout: The layout of its records.
        least: Records that confirm an offset near the file's end.
    """
    _skip(window, _RECORDS[layout.order], partial(_record_holds, layout, least))


def _skip(window: ReadBuffer, pattern: re.Pattern[bytes], holds: Holds) -> None:
    window.at += 1
    while True:
        whole = len(window.data) - window.at < _AHEAD and not window.has(2 * _AHEAD)
        data = window.data
        end = len(data) if whole else len(data) - _AHEAD
        for match in pattern.finditer(data, window.at):
            at = match.start()
            if at > end:
                break
            if holds(data, at, whole):
                window.at = at
                return
        window.at = end if whole else end + 1
        if whole:
            return


def _block_holds(order: str, least: int, data: Buffer, at: int, whole: bool) -> bool:
    try:
        for before in range(CHAIN):
            if len(data) - at < AROUND:
                return before >= least
            order, kind, length = block_head(data, at, order, at)
            if kind not in _KINDS:
                return False
            if at + length > len(data):
                return not whole and before >= least
            check_end(data, at, order, length, at)
            at += length
    except CaptureError:
        return False
    return True


def _record_holds(layout: RecordLayout, least: int, data: Buffer, at: int, whole: bool) -> bool:
    order, tick, size, _ = layout
    last = None
    for before in range(CHAIN):
        if len(data) - at < size:
            return before >= least
        seconds, ticks, length, original = struct.unpack_from(order + "4I", data, at)
        if length > min(original, _SNAPLEN) or ticks * tick >= 10**9 or not original:
            return False
        if last is not None and abs(seconds - last) > _PAUSE:
            return False
        if at + size + length > len(data):
            return not whole and before >= least
        last = seconds
        at += size + length
    return True
