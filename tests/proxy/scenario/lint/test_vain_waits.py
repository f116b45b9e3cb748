"""Holds that wait for what can't come are said."""

from __future__ import annotations

import pytest

from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.lint.notes import warnings


def found(rule: str) -> list[str]:
    return warnings(loads(f"version: 1\nrules: [{{name: r, {rule}}}]"))


@pytest.mark.parametrize(("match", "until", "reason"), [
    ("{}", "{api: Heartbeat, topic: t}", "no Heartbeat message names a topic"),
    ("{}", "{direction: request, error: 3}", "no request has an error code"),
    ("{api: Fetch}", "{api: JoinGroup, same: group}", "no group is named by the messages held"),
    ("{api: JoinGroup}", "{api: Fetch, same: group}", "by the messages waited for: Fetch message"),
    ("{broker: 1}", "{broker: 2}", "have no broker in common"),
    ("{connection: 0}", "{connection: [1, 2]}", "have no connection in common"),
])  # fmt: skip
def test_holds_that_wait_in_vain(match: str, until: str, reason: str) -> None:
    (line,) = found(f"match: {match}, do: {{hold: {{until: {until}}}}}")
    assert line.startswith(
        "warning: rule 'r' waits until its time is up for a message that never comes: "
    )
    assert reason in line


def test_what_passes_elsewhere_may_be_at_another_broker() -> None:
    assert found("match: {broker: 1}, do: {hold: {until: {broker: 2, same: client}}}") == []
