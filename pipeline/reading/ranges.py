"""Capture files cut into ranges of bytes, each of which can be read by itself.

A range that was cut anywhere begins with the first block that stands in it (`block_resync.py`); one that is
`exact` begins with a block. What stands before it and holds on in it is its `State`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from barnabas.captures.files import pcap, pcapng
from barnabas.captures.files.file_format import CaptureFile
from barnabas.captures.files.pcapng import CaptureError, Interface

SIZE: Final = 64 << 20
"""Bytes of a range, unless told otherwise."""

Kind = Literal["pcap", "pcapng", "packed"]
"""Of a file: as it stands there, or compressed, which is read from its beginning only."""


class State(NamedTuple):
    """What a block means depends on: how its section or file is written."""

    order: str = "<"
    interfaces: tuple[Interface, ...] = ()
    layout: pcap.Layout | None = None
    """Of a classic pcap file."""


class Range(NamedTuple):
    """Bytes of a capture file: the blocks that begin from `start` on and before `stop`."""

    file: int
    """The number of its file among all that are read, from 0."""
    path: str
    kind: Kind
    start: int
    stop: int
    state: State
    exact: bool
    """Whether a block begins at `start`; else the first one behind it has to be found."""


def ranges(paths: Sequence[Path], size: int = SIZE) -> list[Range]:
    """The files' ranges of `size` bytes, in their order. A compressed file is one.

    What its head says is taken for the state of all of a file: who reads them makes sure.

    Raises OSError, and CaptureError if one is no capture.
    """
    found: list[Range] = []
    for file, path in enumerate(paths):
        kind, state = _look(path)
        end = path.stat().st_size
        if kind == "packed":
            found.append(Range(file, str(path), kind, 0, 1 << 62, state, True))
            continue
        begin = pcap.HEADER if kind == "pcap" else 0
        starts = [begin, *range(size, end, size)] if size > begin else range(begin, end, size)
        for start, stop in zip(starts, [*starts[1:], end], strict=True):
            found.append(
                Range(file, str(path), kind, start, max(stop, start), state, start == begin)
            )
    return found


def _look(path: Path) -> tuple[Kind, State]:
    """What a file is, and the state that it begins with."""
    with path.open("rb") as plain:
        head = plain.read(pcap.HEADER)
    with CaptureFile(path) as file:
        blocks = file.blocks()
        first = next(blocks, None)
        if head[:4] in pcap.MAGICS and len(head) == pcap.HEADER:
            return "pcap", State(layout=pcap.read_header(head))
        if head[:4] != pcapng.MAGIC:  # or cut off in its header: whoever reads it reports that
            return "packed", State()
        if not isinstance(first, pcapng.Section):
            return "pcapng", State()
        interfaces = []
        try:
            for block in blocks:
                if not isinstance(block, Interface):
                    break
                interfaces.append(block)
        except CaptureError:  # is found again where it stands
            pass
        return "pcapng", State(pcapng.ORDERS[head[8:12]], tuple(interfaces))


def memory() -> int:
    """Bytes of this machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
