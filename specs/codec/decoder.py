"""The fast decoder: generated Python source for one layout, for all fields or for selected fields.

A generated decoder reads regular bytes only. For anything else (too few bytes, null where it is not allowed,
trailing bytes, invalid UTF-8) it raises one of `IRREGULAR`. The caller then uses
`barnabas.specs.codec.careful_decoder`, which does what Kafka does. Positions only grow, so one comparison at
the end replaces a bounds check at each slice; counts are checked before a loop.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from barnabas.specs.codec.decoder_source import DecoderEmitter
from barnabas.specs.codec.irregular import Irregular
from barnabas.specs.codec.selection import Selection
from barnabas.specs.layout import Layout

IRREGULAR = (Irregular, struct.error, IndexError, UnicodeDecodeError)
"""Everything that a generated decoder raises."""


def decoder(
    layout: Layout, origin: str, selected: Selection | None = None, *, charged: bool = False
) -> Callable[[bytes], Any]:
    """Return a function that decodes a body; with a selection, it also returns the number of bytes read.

    A `charged` decoder raises TooLarge if the values would take more than
    `barnabas.specs.codec.budget.BUDGET`.
    """
    emitter = DecoderEmitter(selected is not None, charged=charged)
    emitter.root(layout, selected)
    return emitter.source.compile("decode(b):", _title("decode", origin, selected, charged))


def address_locator(
    layout: Layout, origin: str, selected: Selection, *, charged: bool = False
) -> Callable[[bytes], Any]:
    """Return a function that finds the addresses in a body: (places, boxes).

    A place is (node id, host bytes, port, start, end), the offsets of host and port. A box is (start of the
    size, start of the content, end) of the tagged field around them, whose size must be rewritten.
    """
    emitter = DecoderEmitter(True, locating=True, charged=charged)
    emitter.root(layout, selected)
    return emitter.source.compile("locate(b):", _title("locate", origin, selected, charged))


def _title(verb: str, origin: str, selected: Selection | None, charged: bool = False) -> str:
    """Return the unique title of a generated function, for tracebacks and for the lines of its source."""
    fields = "" if selected is None else f": {', '.join(_paths(selected))}"
    return f"{verb} {origin}{' charged' if charged else ''}{fields}"


def _paths(selected: Selection) -> Iterator[str]:
    for name, inner in selected.items():
        if inner is None:
            yield name
        else:
            yield from (f"{name}.{path}" for path in _paths(inner))
