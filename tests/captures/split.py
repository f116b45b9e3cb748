"""Split a capture like `tcpdump -C`: several files, each of a few packets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from barnabas.captures.files.file_format import CaptureFile
from barnabas.captures.files.pcap import HEADER
from barnabas.captures.files.pcapng import Packet


def pieces(source: Path, count: int) -> Iterator[bytes]:
    """Cut a pcap file into files of `count` packets."""
    data = source.read_bytes()
    with CaptureFile(source) as file:
        starts = [block.file_offset for block in file.blocks() if isinstance(block, Packet)]
    cuts = [*starts[::count], len(data)]
    for start, stop in pairwise(cuts):
        yield data[:HEADER] + data[start:stop]


def split(source: Path, folder: Path, count: int, names: str = "seg.pcap{}") -> list[Path]:
    """Write the pieces of a pcap file into a folder. names: with `{}` for a number; the first has none."""
    folder.mkdir(exist_ok=True)
    paths = []
    for number, piece in enumerate(pieces(source, count)):
        paths.append(folder / names.format(number or ""))
        paths[-1].write_bytes(piece)
    return paths
