"""What decoding may take: a body of a MiB can announce a million elements, each many times its bytes.

What a value costs in memory follows from its layout, so it is charged before anything is made of it.
The contents of strings and bytes are charged beside, as they are read. Elements that are only passed
over cost time: they are charged too, as a share of it.
"""

from __future__ import annotations

from typing import Any, Final

from barnabas.specs.layout import Layout, Node, Slot
from barnabas.specs.malformed import Malformed

BUDGET: Final = 64 << 20
"""Bytes of memory that the values of one body may take, however they are read; their JSON form takes
as much again. One for all, so that a rule, the log, and a capture of both say the same."""

FREE: Final = 128 << 10
"""Bodies up to this size can't take more, whatever is in them (a test goes over all layouts): nothing
is charged for them."""

WIDE: Final = 4
"""Bytes of memory that a byte of text may take: one emoji makes all of a string that wide."""

TAG: Final = 400
"""What a tagged field that nobody knows costs beside its bytes: entry, and its share of a dict."""

WALK: Final = 64
"""What an element that is only passed over is charged."""

_ENTRY: Final = 16
"""An element's place in its list, while it grows and is copied."""

_VALUES: Final = {"string": 64, "bytes": 56, "records": 56, "array": 72, "uuid": 160}
"""Bytes of a value without its contents; numbers take 32."""


class TooLarge(Malformed):
    """A body whose values would take more memory than the budget: it is not decoded."""

    def __init__(self) -> None:
        reason = f"too large to decode: it would take more than {BUDGET >> 20} MiB of memory"
        super().__init__("", 0, reason)
        self.args = (reason,)


def element_cost(element: Node, wanted: dict[str, Any] | None) -> int:
    """What an element of an array is charged, in bytes; its own arrays and contents come beside.

    `wanted` as in `barnabas.specs.codec.wanted.Wanted`: {} is passed over.
    """
    return WALK if wanted == {} else _ENTRY + cost(element, wanted)


def cost(node: Node, wanted: dict[str, Any] | None = None) -> int:
    """Bytes that a value takes at most, without the elements of arrays and the contents of text."""
    if node.kind == "struct" and node.struct is not None:
        return struct_cost(node.struct, wanted)
    return _VALUES.get(node.kind, 32)


def struct_cost(layout: Layout, wanted: dict[str, Any] | None = None) -> int:
    """The same of a structure; fields in its tagged section stand at their defaults."""
    slots = [slot for slot in layout.slots if wanted is None or slot.name in wanted]
    inner = sum(cost(slot.node, wanted and wanted[slot.name]) for slot in slots)
    return _dict(len(slots)) + inner


def tag_cost(known: list[Slot]) -> int:
    """What each field of a tagged section is charged beside its contents."""
    return TAG + max((cost(slot.node) for slot in known), default=0)


def _dict(fields: int) -> int:
    """A dict as CPython makes it, one field to spare for a name that is put in (topic ids)."""
    return 16 + (184 if fields < 5 else 272 if fields < 10 else 80 * fields)
