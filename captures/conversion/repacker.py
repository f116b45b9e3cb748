"""Write the selected parts of a surveyed capture, with its packets; a slice describes itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from barnabas.captures.conversion.frame_masking import FrameMasking
from barnabas.captures.conversion.rewriter import rewrite
from barnabas.captures.conversion.survey import Survey
from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Event
from barnabas.captures.writing.block_sink import Stats
from barnabas.captures.writing.writer import CaptureWriter

KINDS: Final = ("secrets", "payload")
"""The data that a capture's metadata may list as masked."""


def repack(
    reader: CaptureReader,
    survey: Survey,
    events: Iterable[Event],
    file: BinaryIO,
    slice_text: str = "",
) -> None:
    """Write the selected parts of a capture.

    Args:
        reader: The reader of the capture.
        survey: The completed survey.
        events: The events of `reader`.
        file: The destination.
        slice_text: The description of the slice; empty for a whole capture.

    Raises:
        Exception: Every error of reading and writing.
    """
    masking, context = survey.masking, survey.context
    masked = [_list(CaptureReader(path).meta.get("masked")) for path in reader.paths]
    already = [kind for kind in KINDS if all(kind in kinds for kinds in masked)]
    frame_masking = FrameMasking(masking, clean=set(masking.kinds) <= set(already))
    meta = {**reader.meta}
    meta.pop("segment", None)
    meta["masked"] = [kind for kind in KINDS if kind in (*masking.kinds, *already)]
    if not reader.says_brokers:
        # readers of the new capture identify brokers by address, too
        meta["brokers"] = {} if context is None else context.brokers.known()
    if survey.topics:
        meta["topics"] = survey.topics
    if slice_text:
        outer_slices = _list(meta.get("slice"))
        meta["slice"] = (
            outer_slices if slice_text in outer_slices[:1] else [slice_text, *outer_slices]
        )
    with written_to(file, meta) as writer:
        rewrite(reader, events, survey, frame_masking, writer)


def written_to(file: BinaryIO, meta: dict[str, Any]) -> CaptureWriter:
    """Return a capture writer for a file, which its owner closes. Errors of the file are raised."""
    return CaptureWriter(
        Path(), limit=None, meta=meta, sink=lambda _, head, **__: _BlockFile(file, head)
    )


class _BlockFile:
    """A sink like `barnabas.captures.writing.sink.Sink` that waits for the file, and raises its errors."""

    segment = 1
    losing = False

    def __init__(self, file: BinaryIO, head: bytes) -> None:
        self.stats = Stats(bytes=len(head))
        self._file = file
        file.write(head)

    def put(self, buffers: Sequence[Buffer], packets: int, payload: int) -> bool:
        """Write whole blocks."""
        for buffer in buffers:
            self._file.write(buffer)
            self.stats.bytes += len(buffer)
        self.stats.packets += packets
        return True

    def lose(self, packets: int, payload: int) -> bool:
        """Raise AssertionError, since nothing is lost here."""
        raise AssertionError("a file that is written whole loses nothing")

    def close(self, last: Callable[[Stats], bytes]) -> None:
        """Write the end; the owner of the file closes it."""
        self._file.write(last(self.stats))


def _list(value: Any) -> list[Any]:
    """Return a list in metadata, which may have any type."""
    return value if isinstance(value, list) else []
