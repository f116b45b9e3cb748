"""Holds that wait for what can't come are said."""

from __future__ import annotations

import pytest

from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.lint.notes import warnings


def found(rule: str) -> list[str]:
    return warnings(loads(f"version: 1\nrules: [{{name: r, {rule}}}]"))


@pytest.mark.parametrize(
    ("match", "until", "reason"),
    [
        ("{}", "{api: Heartbeat, topic: t}", "no topic is named in any Heartbeat message"),
        ("{}", "{direction: request, error: 3}", "there is no error code in any request"),
        ("{api: Fetch}", "{api: JoinGroup, same: group}", "no group is named in what is held"),
        ("{api: JoinGroup}", "{api: Fetch, same: group}", "in what is waited for: Fetch message"),
        ("{broker: 1}", "{broker: 2}", "no broker is both in `match` and in `until`"),
        ("{connection: 0}", "{connection: [1, 2]}", "no connection is both in"),
    ],
)
def test_holds_that_wait_in_vain(match: str, until: str, reason: str) -> None:
    (line,) = found(f"match: {match}, do: {{hold: {{until: {until}}}}}")
    assert line.startswith("warning: rule 'r' waits in vain, until its time is up: ")
    assert reason in line


def test_what_passes_elsewhere_may_be_at_another_broker() -> None:
    assert found("match: {broker: 1}, do: {hold: {until: {broker: 2, same: client}}}") == []
