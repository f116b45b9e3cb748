"""What two sides say together."""

from __future__ import annotations

import pytest

from tests.compat.cells import Cell, Side, Verdict, judge

LISTENERS = frozenset({"127.0.0.1:1", "127.0.0.1:2"})
SEEN = frozenset({"127.0.0.1:2"})


@pytest.mark.parametrize(
    ("direct", "proxied", "verdict", "reason"),
    [
        (Side({"a": 1}), Side({"a": 1}, addresses=SEEN), Verdict.SAME, ""),
        (
            Side({"a": 1, "b": 2}),
            Side({"a": 1, "b": 3}, addresses=SEEN),
            Verdict.DIFFERS,
            "direct: {'b': 2}; through the proxy: {'b': 3}",
        ),
        (
            Side({"a": 1}),
            Side({}, addresses=SEEN),
            Verdict.DIFFERS,
            "direct: {'a': 1}; through the proxy: {'a': None}",
        ),
        (
            Side([1]),
            Side(problem="timed out", addresses=SEEN),
            Verdict.DIFFERS,
            "direct: [1]; through the proxy: timed out",
        ),
        (
            Side(problem="refused"),
            Side([1], addresses=SEEN),
            Verdict.DIFFERS,
            "direct: refused; through the proxy: [1]",
        ),
        (
            Side(problem="one"),
            Side(problem="other", addresses=SEEN),
            Verdict.NEITHER,
            "direct: one; through the proxy: other",
        ),
        (
            Side([1]),
            Side([1], addresses=SEEN | {"127.0.0.1:3"}),
            Verdict.BYPASSED,
            "the client was at 127.0.0.1:3",
        ),
        (
            Side(problem="NotOfferedError: not offered"),
            Side(problem="NotOfferedError: not offered"),
            Verdict.IMPOSSIBLE,
            "not offered",
        ),
        (
            Side(problem="NotOfferedError: not offered"),
            Side([1]),
            Verdict.DIFFERS,
            "direct: NotOfferedError: not offered; through the proxy: [1]",
        ),
    ],
)
def test_two_sides_make_a_verdict(
    direct: Side, proxied: Side, verdict: Verdict, reason: str
) -> None:
    assert judge(direct, proxied, LISTENERS) == (verdict, reason)


@pytest.mark.parametrize("verdict", Verdict)
def test_only_the_same_and_the_impossible_are_fine(verdict: Verdict) -> None:
    fine = Cell("4.3.1", "java", "produce", verdict).fine
    assert fine == (verdict in (Verdict.SAME, Verdict.IMPOSSIBLE))
