"""The fast reader: Python source for one layout, for all fields or for just those that are wanted.

A generated decoder reads regular bytes only. Whatever it does not like (too short, null in the wrong
place, bytes left over, text that is no UTF-8) it raises as any of `IRREGULAR`, and the caller turns to
`barnabas.specs.codec.careful_decoder`, which knows what Kafka would make of it. Positions only grow, so one
comparison at the end stands for a bounds check at each slice; counts are checked before anything loops.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from barnabas.specs.codec.decoder_source import DecoderEmitter
from barnabas.specs.codec.irregular import Irregular
from barnabas.specs.codec.wanted import Wanted
from barnabas.specs.layout import Layout

IRREGULAR = (Irregular, struct.error, IndexError, UnicodeDecodeError)
"""All that a generated decoder raises."""


def decoder(
    layout: Layout, origin: str, wanted: Wanted | None = None, *, charged: bool = False
) -> Callable[[bytes], Any]:
    """A function of the body's bytes to a dict of the fields; of wanted ones, with how many bytes it read.

    One that is `charged` raises TooLarge if these would take more than `barnabas.specs.codec.budget.BUDGET`.
    """
    emitter = DecoderEmitter(wanted is not None, charged=charged)
    emitter.root(layout, wanted)
    return emitter.source.compile("decode(b):", _title("decode", origin, wanted, charged))


def address_locator(
    layout: Layout, origin: str, wanted: Wanted, *, charged: bool = False
) -> Callable[[bytes], Any]:
    """A function of the body's bytes to where addresses stand: (places, boxes).

    A place is (node id, host as it stands there, port, start, end), the bytes of host and port; a box is
    (start of the size, start of the content, end) of the tagged field that holds them, to be rewritten
    with them.
    """
    emitter = DecoderEmitter(True, locating=True, charged=charged)
    emitter.root(layout, wanted)
    return emitter.source.compile("locate(b):", _title("locate", origin, wanted, charged))


def _title(what: str, origin: str, wanted: Wanted | None, charged: bool = False) -> str:
    """What tracebacks call a generated function: each has a name of its own, for the lines of its source."""
    fields = "" if wanted is None else f": {', '.join(_paths(wanted))}"
    return f"{what} {origin}{' charged' if charged else ''}{fields}"


def _paths(wanted: Wanted) -> Iterator[str]:
    for name, inner in wanted.items():
        if inner is None:
            yield name
        else:
            yield from (f"{name}.{path}" for path in _paths(inner))
