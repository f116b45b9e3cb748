"""The fast reader: Python source for one layout, for all fields or for just those that are wanted.

A generated decoder reads regular bytes only. Whatever it does not like (too short, null in the wrong
place, bytes left over, text that is no UTF-8) it raises as any of `IRREGULAR`, and the caller turns to
`barnabas.specs.codec.careful_decoder`, which knows what Kafka would make of it. Positions only grow, so one
comparison at the end stands for a bounds check at each slice; counts are checked before anything loops.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from barnabas.specs.codec.decoder_source import Irregular, Wanted, Writer, uvarint_from
from barnabas.specs.layout import Layout

__all__ = ["IRREGULAR", "Irregular", "decoder", "leader", "locator", "uvarint_from", "wanted_tree"]

IRREGULAR = (Irregular, struct.error, IndexError, UnicodeDecodeError)
"""All that a generated decoder raises."""


def wanted_tree(paths: tuple[str, ...]) -> Wanted:
    """The tree of some dotted paths.

    >>> wanted_tree(("topics.name", "topics.partitions", "acks"))
    {'topics': {'name': None, 'partitions': None}, 'acks': None}
    """
    tree: Wanted = {}
    for path in paths:
        *parents, leaf = path.split(".")
        at = tree
        for parent in parents:
            at = at.setdefault(parent, {})
        at[leaf] = None
    return tree


def decoder(
    layout: Layout, origin: str, wanted: Wanted | None = None, *, charged: bool = False
) -> Callable[[bytes], Any]:
    """A function of the body's bytes to a dict of the (wanted) fields.

    One that is `charged` raises TooLarge if these would take more than `barnabas.specs.codec.budget.BUDGET`.
    """
    writer = Writer(wanted is not None, charged=charged)
    writer.root(layout, wanted)
    return writer.source.compile("decode(b):", f"decode {origin}")


def leader(layout: Layout, origin: str, wanted: Wanted) -> Callable[[bytes], Any]:
    """A function of a body's first bytes to a dict of the wanted fields, and how many bytes it read."""
    writer = Writer(True, measuring=True)
    writer.root(layout, wanted)
    return writer.source.compile("lead(b):", f"lead {origin}")


def locator(
    layout: Layout, origin: str, wanted: Wanted, *, charged: bool = False
) -> Callable[[bytes], Any]:
    """A function of the body's bytes to where addresses stand: (places, boxes).

    A place is (node id, host as it stands there, port, start, end), the bytes of host and port; a box is
    (start of the size, start of the content, end) of the tagged field that holds them, to be rewritten
    with them.
    """
    writer = Writer(True, locating=True, charged=charged)
    writer.root(layout, wanted)
    return writer.source.compile("locate(b):", f"locate {origin}")
