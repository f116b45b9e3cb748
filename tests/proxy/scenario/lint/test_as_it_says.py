"""What notes say of rules is so on connections."""

from __future__ import annotations

import pytest

from tests.proxy.frames import heartbeat_request
from tests.proxy.playbook import Stage


def decisions(rule: str, count: int) -> list[bool]:
    """On which of some connections a rule fires on the first message."""
    stage = Stage(f"version: 1\nrules: [{{name: r, {rule}}}]")
    actors = [stage.actor() for _ in range(count)]
    for actor in actors:
        actor.ask(heartbeat_request(1))
    return [any("rules" in cut for cut in actor.cuts) for actor in actors]


@pytest.mark.parametrize(("scope", "cut"), [("connection", [True, True]), ("rule", [True, False])])
def test_times_counts_on_each_connection(scope: str, cut: list[bool]) -> None:
    assert decisions(f"when: {{times: 1, scope: {scope}}}, do: lose_reply", 2) == cut


@pytest.mark.parametrize(("key", "alike"), [("", False), (", key: group_id", True)])
def test_connections_of_one_client_meet_other_decisions_by_their_order(
    key: str, alike: bool
) -> None:
    found = decisions(f"when: {{probability: 0.5{key}}}, do: {{delay: 1ms}}", 20)
    assert (len(set(found)) == 1) == alike


@pytest.mark.parametrize("do", ["{delay: 1ms}", "{respond: {error: 27}}"])
@pytest.mark.parametrize(("scope", "depends"), [("rule", ["r"]), ("connection", None)])
def test_the_capture_says_which_rules_depend_on_others(
    do: str, scope: str, depends: object
) -> None:
    rule = f"{{name: r, match: {{direction: request}}, when: {{scope: {scope}}}, do: {do}}}"
    actor = Stage(f"version: 1\nrules: [{rule}, {{name: x, do: {{delay: 1ms}}}}]").actor()
    actor.ask(heartbeat_request(1))
    (comment,) = [cut for cut in actor.cuts if "rules" in cut]
    assert comment.get("depends") == depends
