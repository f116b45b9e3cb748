"""The offsets of selected fields in a body, with or without oddities."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from barnabas.specs.codec.careful_decoder import CarefulDecoder
from barnabas.specs.layout import Layout

_INDEX = re.compile(r"\[\d+\]")


class Span(NamedTuple):
    """The contents of a field, data[start:end], without the length. The path has indices."""

    path: str
    start: int
    end: int

    @property
    def field(self) -> str:
        """Return the path without indices."""
        return _INDEX.sub("", self.path)


def spans(layout: Layout, data: bytes, paths: Collection[str]) -> list[Span]:
    """Return the spans of the strings, bytes, records and booleans at these dotted paths, in order.

    Bytes after the last field come last, with an empty path. Raises Malformed if `decode_carefully` does.

    >>> from barnabas import specs
    >>> spans(specs.api("SaslAuthenticate").request.layout(0), bytes.fromhex("00000001 41"), ("auth_bytes",))
    [Span(path='auth_bytes', start=4, end=5)]
    """
    reader = _Spans(data, paths)
    reader.struct(layout, "")
    if reader.offset < len(data):
        reader.found.append(Span("", reader.offset, len(data)))
    return reader.found


class _Spans(CarefulDecoder):
    """A careful decoder that records the spans of the fields it reads."""

    def __init__(self, data: bytes, paths: Collection[str]) -> None:
        super().__init__(data)
        self.found: list[Span] = []
        self._paths = paths

    def take(self, size: int, path: str, content: str) -> bytes:
        taken = super().take(size, path, content)
        if (
            content in ("text", "bytes", "records", "a boolean")
            and _INDEX.sub("", path) in self._paths
        ):
            self.found.append(Span(path, self.offset - size, self.offset))
        return taken
