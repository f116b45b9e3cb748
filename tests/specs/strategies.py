"""Values and mutations for Hypothesis, made from a layout as a decoder is."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from barnabas.specs.layout import Layout, Node

RANGES = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
}

UNKNOWN_TAGS = st.dictionaries(st.integers(1000, 2**31 - 1), st.binary(max_size=3), max_size=2)


def values(layout: Layout) -> st.SearchStrategy[dict[str, Any]]:
    """Whole values of a structure; some with tags that nobody knows."""
    names = [slot.name for slot in layout.slots]
    fields = st.tuples(*(value(slot.node) for slot in layout.slots)).map(
        lambda drawn: dict(zip(names, drawn, strict=True))
    )
    if not layout.flexible:
        return fields
    return st.tuples(fields, UNKNOWN_TAGS).map(
        lambda both: both[0] | ({"_tags": dict(sorted(both[1].items()))} if both[1] else {})
    )


def value(node: Node) -> st.SearchStrategy[Any]:
    """Values of one field; null where it is allowed."""
    found: st.SearchStrategy[Any]
    match node.kind:
        case "struct":
            assert node.struct is not None
            found = values(node.struct)
        case "array":
            assert node.element is not None
            found = st.lists(value(node.element), max_size=3)
        case "string":
            found = st.text(max_size=5)
        case "bytes" | "records":
            found = st.binary(max_size=5)
        case "uuid":
            found = st.uuids()
        case "bool":
            found = st.booleans()
        case "float64":
            found = st.floats()
        case kind:
            found = st.integers(*RANGES[kind])
    return st.none() | found if node.nullable else found


@st.composite
def mutated(draw: st.DrawFn, body: bytes) -> bytes:
    """A body with a few bytes flipped, cut off, doubled or put in between."""
    data = bytearray(body)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        match draw(st.sampled_from(["flip", "cut", "insert", "double"])):
            case "flip" if data:
                data[at] = draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]) | st.integers(0, 255))
            case "cut":
                del data[at:]
            case "double":
                data[at:at] = data[at : at + draw(st.integers(1, 8))]
            case _:
                data[at:at] = draw(st.binary(min_size=1, max_size=6))
    return bytes(data)
