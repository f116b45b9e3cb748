"""Rows are written as the module json would write them."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.specs.json_text import compact, number


def by_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":")).replace("\x7f", "\\u007f")


FLOATS = st.floats() | st.floats(-2, 2) | st.floats(1e15, 1e17)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | FLOATS.map(number)
    | st.text(st.characters() | st.characters(categories=["Cs", "Cc", "Zl", "Zp"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
)


@given(VALUES)
def test_it_is_what_json_writes(value: Any) -> None:
    assert compact(value) == by_json(value)


def test_each_character_is_as_json_writes_it() -> None:
    for text in (*map(chr, range(0x3000)), "\ud800", "\U0001f469", '"\\/\x7f\x85', "a" * 9):
        assert compact({text: [text]}) == by_json({text: [text]})
        assert compact(text).isascii()


def test_each_kind_of_float_is_as_json_writes_it() -> None:
    edges = [math.nextafter(edge, to) for edge in (1e-4, 1e16) for to in (0, math.inf)]
    odd = [math.nan, math.inf, 0.0, 0.1, 1e22 / 3, 5e-324, sys.float_info.max, *edges]
    for value in (*odd, *(10.0**power for power in range(-330, 309))):
        assert compact([number(value), number(-value)]) == by_json([value, -value])


@pytest.mark.parametrize("value", [b"", object(), {b"": 1}, {1, 2}])
def test_what_json_lacks_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        compact(value)
