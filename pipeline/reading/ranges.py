"""Capture files cut into ranges of bytes that tasks read independently, and the faults found in them.

A range may be cut at any byte: then it begins with the first block found in it (`block_resync.py`). An
`exact` range begins at a block. `State` holds what earlier blocks of the file establish for the range: byte
order and interfaces.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from barnabas.captures.comments import meta_of_file
from barnabas.captures.files import pcap, pcapng
from barnabas.captures.files.capture_folder import (
    head,
    in_order,
    listing,
    natural,
    segment_of,
)
from barnabas.captures.files.file_format import CaptureFile
from barnabas.captures.files.pcapng import CaptureError, Interface


class Fault(NamedTuple):
    """Bytes of a file that could not be read."""

    offset: int
    bytes: int
    kind: str
    reason: str


def unread(offset: int, size: int, problem: CaptureError) -> Fault:
    """Return the fault for an invalid block of `size` bytes."""
    return Fault(offset, size, "corrupt", f"byte {problem.offset}: {problem.reason}")


SIZE: Final = 64 << 20
"""The default size of a range in bytes."""

Kind = Literal["pcap", "pcapng", "packed"]
"""The format of a file: uncompressed pcap or pcapng, or compressed ("packed"), which can only be read from
its beginning."""


class State(NamedTuple):
    """Facts that the meaning of a block depends on: byte order, interfaces, layout of a pcap file."""

    order: str = "<"
    interfaces: tuple[Interface, ...] = ()
    layout: pcap.Layout | None = None
    """The layout of a classic pcap file."""


class Range(NamedTuple):
    """A range of bytes of a capture file: the blocks that begin from `start` on and before `stop`."""

    file: int
    """The index of the file among all files, from 0."""
    path: str
    kind: Kind
    start: int
    stop: int
    state: State
    exact: bool
    """Whether a block begins at `start`; otherwise the first block after it has to be found."""


def ranges(paths: Sequence[Path], size: int = SIZE) -> list[Range]:
    """Return the files' ranges of `size` bytes, in file order. A compressed file is one range.

    The state from the file's first blocks is assumed for all of its ranges; the survey verifies it.

    Raises:
        OSError: A file can't be read.
        CaptureError: A file is no capture.
    """
    all_ranges: list[Range] = []
    for file, path in enumerate(paths):
        kind, state = _initial_state(path)
        end = path.stat().st_size
        if kind == "packed":
            all_ranges.append(Range(file, str(path), kind, 0, 1 << 62, state, True))
            continue
        begin = pcap.HEADER if kind == "pcap" else 0
        starts = [begin, *range(size, end, size)] if size > begin else range(begin, end, size)
        for start, stop in zip(starts, [*starts[1:], end], strict=True):
            all_ranges.append(
                Range(file, str(path), kind, start, max(stop, start), state, start == begin)
            )
    return all_ranges


def _initial_state(path: Path) -> tuple[Kind, State]:
    """Return the format of a file, and its initial state."""
    with path.open("rb") as plain:
        head = plain.read(pcap.HEADER)
    with CaptureFile(path) as file:
        blocks = file.blocks()
        first = next(blocks, None)
        if head[:4] in pcap.MAGICS and len(head) == pcap.HEADER:
            return "pcap", State(layout=pcap.read_header(head))
        if head[:4] != pcapng.MAGIC:  # or truncated in its header, which reading reports
            return "packed", State()
        if not isinstance(first, pcapng.Section):
            return "pcapng", State()
        interfaces = []
        try:
            for block in blocks:
                if not isinstance(block, Interface):
                    break
                interfaces.append(block)
        except CaptureError:  # reading the range reports it
            pass
        return "pcapng", State(pcapng.ORDERS[head[8:12]], tuple(interfaces))


def memory() -> int:
    """Return the size of this machine's memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def sorted_paths(paths: Sequence[Path]) -> list[Path]:
    """Return files sorted by the time of their first packet, then by name.

    Segments of a capture are sorted by number, without duplicates. A folder stands for the captures in it.

    Raises:
        OSError: A file can't be read.
        CaptureError: A file is no capture.
    """
    files = [path for each in paths for path in listing(each).captures]
    by_time = sorted(files, key=lambda path: (head(path).beginning, natural(path)))
    return in_order((path, segment_of(meta_of_file(path))) for path in by_time)
