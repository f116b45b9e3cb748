"""Writes what was surveyed of a capture, with the packets that it has: a slice says of itself what it is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, Final

from barnabas.captures.conversion.blocks import BlockFile
from barnabas.captures.conversion.hiding import Hiding
from barnabas.captures.conversion.rewriting import rewrite
from barnabas.captures.conversion.survey import Survey
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Event
from barnabas.captures.writing.writer import CaptureWriter

KINDS: Final = ("secrets", "payload")
"""What a capture may say of itself to be without."""


def repack(
    reader: CaptureReader, survey: Survey, events: Iterable[Event], file: BinaryIO, said: str = ""
) -> None:
    """Write it. events: those of `reader`, as they are read; said: what makes a slice of it, in words.

    Raises whatever reading and writing do.
    """
    masking, context = survey.masking, survey.context
    masked = [_list(CaptureReader(path).meta.get("masked")) for path in reader.paths]
    already = [kind for kind in KINDS if all(kind in kinds for kinds in masked)]
    hiding = Hiding(masking, clean=set(masking.kinds) <= set(already))
    meta = {**reader.meta}
    meta.pop("segment", None)
    meta["masked"] = [kind for kind in KINDS if kind in (*masking.kinds, *already)]
    if not reader.says_brokers:
        # whoever reads what is written goes by addresses, too
        meta["brokers"] = {} if context is None else context.brokers.known()
    if survey.topics:
        meta["topics"] = survey.topics
    if said:
        of = _list(meta.get("slice"))
        meta["slice"] = of if said in of[:1] else [said, *of]
    with written_to(file, meta) as writer:
        rewrite(reader, events, survey, hiding, writer)


def written_to(file: BinaryIO, meta: dict[str, Any]) -> CaptureWriter:
    """A capture that is written to a file at its pace, which is its owner's to close."""
    return CaptureWriter(
        Path(), limit=None, meta=meta, sink=lambda _, head, **__: BlockFile(file, head)
    )


def _list(value: Any) -> list[Any]:
    """What a capture says of itself may be anything."""
    return value if isinstance(value, list) else []
