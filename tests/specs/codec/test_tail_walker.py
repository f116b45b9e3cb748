"""The walker that finds a tail: as strict as a decoder wherever clients might read something else."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.specs.codec import Codec
from barnabas.specs.codec.irregular import Irregular
from barnabas.specs.codec.tail_walker import tail_walker
from barnabas.specs.declaration import Array, Bytes, Int8, Int32, NullableString, String, Struct
from barnabas.specs.layout import Layout, resolve

FIELDS = (
    "numbers" / Array(Int32),
    "text"    / NullableString,
    "items"   / Array(
        "raw"  / Bytes,
        "one"  / Struct("a" / Int32).since(1).tag(0),
        "many" / Array(String).since(1).tag(2),
        "old"  / Int8.until(0).tag(9),
    ),
)  # fmt: skip

NEW, OLD = (resolve(FIELDS, version, flexible=True) for version in (1, 0))


def length_in_front(layout: Layout, data: bytes, step: int = 1) -> int:
    """Where the walker says that the tail begins, in chunks of that size."""
    walk = tail_walker([slot for slot in layout.slots if slot.tag is None], "a test")(0, len(data))
    skip = next(walk)
    for start in range(0, len(data), step):
        chunk = data[start : start + step]
        if skip >= len(chunk):
            skip -= len(chunk)
            continue
        try:
            skip = walk.send((memoryview(chunk), skip, len(chunk), start))
        except StopIteration as found:
            return start + int(found.value)
    raise Irregular


def body(layout: Layout = NEW, **values: Any) -> bytes:
    return b"\0" + Codec(layout, "a test").encode(values)


ITEMS = [
    {"raw": b"r" * 300},
    {"raw": b"", "one": {"a": 5}, "many": ["x", "y" * 200], "_tags": {7: b"z" * 200}},
]


@pytest.mark.parametrize("step", [1, 2, 3, 7, 100, 10_000])
@pytest.mark.parametrize(
    "values",
    [
        {},
        {"numbers": [1] * 200},
        {"text": None},
        {"text": "t" * 32_767},
        {"items": ITEMS},
        {"items": [{"raw": b""}] * 200},
        {"items": ITEMS, "text": "t" * 127},
    ],
)
def test_the_tail_begins_behind_what_stands_in_front(values: dict[str, Any], step: int) -> None:
    data = body(**values)
    for tail in (b"\0", b"\1\0\1x"):
        assert length_in_front(NEW, data[:-1] + tail, step) == len(data) - 1


@pytest.mark.parametrize("step", [1, 3, 10_000])
def test_fixed_fields_in_front_are_passed_over(step: int) -> None:
    layout = resolve(("text" / String, "a" / Int32, "b" / Int8), 1, flexible=True)
    data = body(layout, text="x" * 20_000, a=1, b=2)
    assert length_in_front(layout, data, step) == len(data) - 1


def test_tags_of_the_header_are_passed_over() -> None:
    data = b"\2\0\3abc\5\0" + body(items=ITEMS)[1:]
    assert length_in_front(NEW, data) == len(data) - 1
    data = b"\1\x07\xc8\1" + b"t" * 200 + body(items=ITEMS)[1:]
    assert length_in_front(NEW, data) == len(data) - 1


def changed(data: bytes, old: bytes, new: bytes) -> bytes:
    assert data.count(old) == 1
    return data.replace(old, new)


ONE = body(items=[{"raw": b"", "one": {"a": 5}}])
"""Its item ends with one tag of number 0 and size 5: four bytes, and no tags."""


@pytest.mark.parametrize(
    "broken",
    [
        changed(ONE, b"\1\0\5\0\0\0\5\0", b"\1\0\4\0\0\0\5\0"),
        changed(ONE, b"\1\0\5\0\0\0\5\0", b"\1\0\6\0\0\0\5\0"),
        changed(ONE, b"\1\0\5\0\0\0\5\0", b"\1\x09\5\0\0\0\5\0"),  # a tag that only v0 has
        changed(ONE, b"\1\0\5\0\0\0\5\0", b"\1\x80\x80\x80\x80\x10\5\0\0\0\5\0"),  # 0 in 32 bits
        changed(ONE, b"\1\0\5\0\0\0\5\0", b"\1\x80\x80\x80\x80\x80\0\5\0\0\0\5\0"),
        changed(ONE, b"\1\0\5\0\0\0\5\0", b"\x7f\0\5\0\0\0\5\0"),
        body(text="t" * 10).replace(b"\x0b" + b"t" * 10, b"\x81\x80\2" + b"t" * 32_768),
        body(items=[]).replace(b"\1\0", b"\x7f\0"),
    ],
)
@pytest.mark.parametrize("step", [1, 10_000])
def test_what_others_may_read_otherwise_is_refused(broken: bytes, step: int) -> None:
    with pytest.raises(Irregular):
        length_in_front(NEW, broken + b"\0" * 5, step)


def test_a_field_that_another_version_has_is_refused_or_walked_over() -> None:
    data = body(OLD, items=[{"raw": b"", "old": 1}])
    assert length_in_front(OLD, data) == len(data) - 1
    with pytest.raises(Irregular):
        length_in_front(NEW, data)
