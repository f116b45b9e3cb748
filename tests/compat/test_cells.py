"""What two sides say together."""

from __future__ import annotations

from typing import Any

import pytest

from tests.compat.cells import Cell, Side, Verdict, judge

LISTENERS = frozenset({"127.0.0.1:1", "127.0.0.1:2"})
NOT_OFFERED = "NotOfferedError: not offered"


def at(result: Any = None, problem: str | None = None, also: str = "127.0.0.1:2") -> Side:
    """A client behind the proxy: it was at a listener, and there."""
    return Side(result, problem, frozenset({"127.0.0.1:2", also}))


def differs(direct: str, proxied: str) -> tuple[Verdict, str]:
    return Verdict.DIFFERS, f"direct: {direct}; through the proxy: {proxied}"


@pytest.mark.parametrize(
    ("direct", "proxied", "said"),
    [
        (Side({"a": 1}), at({"a": 1}), (Verdict.SAME, "")),
        (Side({"a": 1, "b": 2}), at({"a": 1, "b": 3}), differs("{'b': 2}", "{'b': 3}")),
        (Side({"a": 1}), at({}), differs("{'a': 1}", "{'a': None}")),
        (Side([1]), at(problem="timed out"), differs("[1]", "timed out")),
        (Side(problem="refused"), at([1]), differs("refused", "[1]")),
        (Side(problem="one"), at(problem="two"), (Verdict.NEITHER, differs("one", "two")[1])),
        (
            Side([1]),
            at([1], also="127.0.0.1:3"),
            (Verdict.BYPASSED, "the client was at 127.0.0.1:3"),
        ),
        (
            Side(problem=NOT_OFFERED),
            Side(problem=NOT_OFFERED),
            (Verdict.IMPOSSIBLE, "not offered"),
        ),
        (Side(problem=NOT_OFFERED), Side([1]), differs(NOT_OFFERED, "[1]")),
    ],
)
def test_two_sides_make_a_verdict(direct: Side, proxied: Side, said: tuple[Verdict, str]) -> None:
    assert judge(direct, proxied, LISTENERS) == said


def test_only_the_same_and_the_impossible_are_fine() -> None:
    fine = {one for one in Verdict if Cell("4.3.1", "java", "produce", one).fine}
    assert fine == {Verdict.SAME, Verdict.IMPOSSIBLE}
