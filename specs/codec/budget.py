"""A bound on the memory that decoding may use.

A body of 1 MiB can announce a million elements, each many times the size of its bytes. The memory of a value
follows from its layout, so it is charged before the value is made. The contents of strings and bytes are
charged when they are read. Elements that are only skipped take time: they are charged a share.
"""

from __future__ import annotations

from typing import Any, Final

from barnabas.specs.layout import Layout, Node, Slot
from barnabas.specs.malformed import Malformed

BUDGET: Final = 64 << 20
"""Bytes of memory that the values of one body may take, however they are read; their JSON form takes as much
again. All readers share it, so that a rule, the log and a capture agree."""

FREE: Final = 128 << 10
"""Bodies up to this size can't exceed the budget, whatever their content (a test covers all layouts). Nothing
is charged for them."""

WIDE: Final = 4
"""Bytes of memory that a byte of text may take: one emoji makes every character of a string that wide."""

TAG: Final = 400
"""The charge for an unknown tagged field in addition to its bytes: an entry, and its share of a dict."""

WALK: Final = 64
"""The charge for an element that is only skipped."""

_ENTRY: Final = 16
"""The charge for an element's slot in its list, which grows and is copied."""

_VALUES: Final = {"string": 64, "bytes": 56, "records": 56, "array": 72, "uuid": 160}
"""Bytes of a value without its contents; numbers take 32."""


class TooLarge(Malformed):
    """A body whose values would take more memory than the budget; it is not decoded."""

    def __init__(self) -> None:
        reason = f"too large to decode: it would take more than {BUDGET >> 20} MiB of memory"
        super().__init__("", 0, reason)
        self.args = (reason,)


def element_cost(element: Node, selected: dict[str, Any] | None) -> int:
    """Return the charge for an array element, in bytes, without its own arrays and contents.

    `selected` is a `barnabas.specs.codec.selection.Selection`: {} means that the element is skipped.
    """
    return WALK if selected == {} else _ENTRY + cost(element, selected)


def cost(node: Node, selected: dict[str, Any] | None = None) -> int:
    """Return the most bytes that a value takes, without the elements of arrays and the contents of text."""
    if node.kind == "struct" and node.struct is not None:
        return struct_cost(node.struct, selected)
    return _VALUES.get(node.kind, 32)


def struct_cost(layout: Layout, selected: dict[str, Any] | None = None) -> int:
    """Return the most bytes that a structure takes, with its tagged fields at their defaults."""
    slots = [slot for slot in layout.slots if selected is None or slot.name in selected]
    inner = sum(cost(slot.node, selected and selected[slot.name]) for slot in slots)
    return _dict(len(slots)) + inner


def tag_cost(known: list[Slot]) -> int:
    """Return the charge for each field of a tagged section, without its contents."""
    return TAG + max((cost(slot.node) for slot in known), default=0)


def _dict(fields: int) -> int:
    """Return the bytes of a dict in CPython, with room for one more field (a topic name)."""
    return 16 + (184 if fields < 5 else 272 if fields < 10 else 80 * fields)
