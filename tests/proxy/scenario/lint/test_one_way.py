"""Rules that count messages to which their fault can't be done."""

from __future__ import annotations

import pytest

from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.lint.notes import advice

REFUSE = "respond: {error: NOT_LEADER_OR_FOLLOWER}"


def found(match: str, fault: str) -> list[str]:
    return advice(loads(f"version: 1\nrules: [{{name: r, match: {{{match}}}, do: {{{fault}}}}}]"))


def test_a_rule_without_a_direction_counts_what_its_fault_can_not_be_done_to() -> None:
    assert found("api: Produce", REFUSE) == [
        "note: rule 'r': respond applies to requests, and the rule counts both directions; "
        "with direction: request, it counts those alone"
    ]


@pytest.mark.parametrize(("match", "fault"), [
    ("api: Produce, direction: request", REFUSE),
    ("api: Produce", "delay: 1s"),
    ("api: Produce", "respond: {set: {throttle_time_ms: 1}}"),
])  # fmt: skip
def test_nothing_is_said_where_all_that_is_counted_can_be_done(match: str, fault: str) -> None:
    assert found(match, fault) == []
