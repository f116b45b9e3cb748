"""Which changes break others, and which add."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stability.compare import compare

RECORDED = {
    "code": 1,
    "names": ["a", "b"],
    "rule": {"required": ["do"], "properties": {"do": {"type": "string"}}},
}


def test_nothing_changed_whatever_the_order() -> None:
    assert compare(RECORDED, {**RECORDED, "names": ["b", "a"]}) == ((), ())


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"code": 2}, "changed: code from 1 to 2"),
        ({"names": ["a"]}, "gone: names.b (an entry)"),
        (
            {"rule": {**RECORDED["rule"], "required": ["do", "name"]}},  # type: ignore[dict-item]
            "new: rule.required.name (an entry)",
        ),
        ({"names": {"a": 1}}, "changed: names from list to object"),
    ],
)
def test_it_breaks_others(change: dict[str, Any], line: str) -> None:
    assert line in compare(RECORDED, RECORDED | change).breaking


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"more": 1}, "new: more (1)"),
        ({"names": ["a", "b", "c"]}, "new: names.c (an entry)"),
        ({"rule": {**RECORDED["rule"], "required": []}}, "gone: rule.required.do (an entry)"),  # type: ignore[dict-item]
    ],
)
def test_it_adds(change: dict[str, Any], line: str) -> None:
    assert compare(RECORDED, RECORDED | change) == ((), (line,))
