"""What a header says is decided once for each kind of message, and nobody is asked again."""

from __future__ import annotations

import pytest

from barnabas.proxy.rules.candidates import Candidates
from barnabas.proxy.rules.rules import REMEMBERED, Rules
from barnabas.proxy.scenario.file import loads
from barnabas.specs.frames import Direction
from tests.proxy.connection.test_header_walk import chunks_forwarded
from tests.proxy.frames import (
    commit_request,
    commit_response,
    heartbeat_request,
    heartbeat_response,
    request,
    response,
)
from tests.proxy.playbook import Actor, Stage, ruled

RULE = "  - {{name: r{}, match: {}, do: {{delay: 50ms}}}}\n"


def scenario(*matches: str) -> str:
    return "version: 1\nrules:\n" + "".join(RULE.format(*pair) for pair in enumerate(matches))


def warm(*matches: str) -> Actor:
    """Return a connection of client `me` on which a heartbeat has passed."""
    actor = Stage(scenario(*matches), observed=False).actor()
    actor.ask(heartbeat_request(0))
    actor.answer(heartbeat_response(0))
    return actor


def test_rules_about_other_messages_and_peers_are_no_candidates() -> None:
    text = scenario(
        "{api: Heartbeat, client_id: 'me*'}", "{api: Heartbeat, client_id: other}",
        "{api: Heartbeat, broker: 2}", "{api: Heartbeat, connection: [0, 3]}",
        "{api: Heartbeat, direction: response}", "{api: Fetch}", "{}",
    )  # fmt: skip
    rules = Rules(loads(text))

    def names(client: str | None, broker: int | None, ordinal: int) -> list[str]:
        found = Candidates(rules, broker, ordinal).of("request", 12, 1, client)
        return [rule.name for rule in found]

    assert names("me-1", 1, 3) == ["r0", "r3", "r6"]
    assert names("other", 2, 1) == ["r1", "r2", "r6"]
    assert names(None, None, 1) == ["r6"]


def test_what_is_remembered_is_bounded_and_of_one_client_at_a_time() -> None:
    rules = Rules(loads(scenario("{client_id: 'client-1*'}")))
    found = Candidates(rules, 1, 0)
    for version in range(2 * REMEMBERED):
        assert len(found.of("request", 12, version, "client-1")) == 1
        assert rules.candidates("request", 12, version)
    assert len(found._known) == len(rules._candidates) == REMEMBERED
    for number in (*range(2000), 1, 2, 1):
        kind: tuple[Direction, int, int, str] = ("request", 12, 1, f"client-{number}")
        assert bool(found.of(*kind)) == str(number).startswith("1")
        assert found.of(*kind) is found.of(*kind)
    assert len(found._known) == 1


@pytest.mark.parametrize("match", [
    "{api: Fetch}",
    "{api: Heartbeat, version: 4}",
    "{client_id: 'x-*'}",
    "{broker: 9}",
    "{connection: 1}",
    "{size: {at_least: 1KiB}}",
    "{size: {at_most: 10B}}",
    "{acks: all}",
])  # fmt: skip
def test_ten_rules_that_a_header_denies_leave_the_fast_path_alone(match: str) -> None:
    actor = warm(*[match] * 10)
    assert chunks_forwarded(actor, "request", heartbeat_request(1) + heartbeat_request(2))
    assert chunks_forwarded(actor, "response", heartbeat_response(1) + heartbeat_response(2))
    assert [rule.matched for rule in actor.stage.rules.rules] == [0] * 10


@pytest.mark.parametrize("observed", [True, False])
def test_a_rule_about_sizes_finds_them_among_what_passes(observed: bool) -> None:
    stage = Stage(scenario("{size: {at_least: 100B, at_most: 200B}}"), observed=observed)
    actor = stage.actor()
    empty = len(request("Heartbeat", 0, group_id=""))
    frames = [
        request("Heartbeat", number, group_id="g" * (size - empty))
        for number, size in enumerate([50, 99, 100, 200, 201, 300, 60])
    ]
    for frame in frames:
        actor.ask(frame)
        stage.wait(50)
    assert actor.times["request"] == [
        (50.0 * (number + (number in (2, 3))), frame) for number, frame in enumerate(frames)
    ]
    assert stage.rules.rules[0].fired == 2


def test_responses_of_some_size_are_found_among_what_passes() -> None:
    stage = Stage(scenario("{direction: response, size: {at_least: 100B}}"), observed=False)
    actor = stage.actor()
    answers = [
        response("JoinGroup", n, protocol_name="p" * (200 if n == 2 else 2)) for n in range(4)
    ]
    actor.ask(b"".join(request("JoinGroup", n, group_id="g") for n in range(4)))
    actor.answer(answers[0])
    actor.answer(b"".join(answers[1:]))
    assert actor.sent["response"] == b"".join(answers[:2])
    stage.wait(50)
    assert actor.sent["response"] == b"".join(answers)
    assert stage.rules.rules[0].fired == 1


def test_a_client_that_says_to_be_another_one_meets_other_rules() -> None:
    actor = warm("{direction: response, client_id: other}")
    actor.ask(heartbeat_request(1) + heartbeat_request(2, client="other") + heartbeat_request(3))
    actor.answer(heartbeat_response(1) + heartbeat_response(2) + heartbeat_response(3))
    assert actor.ids("response") == [0, 1]
    actor.stage.wait(50)
    assert actor.ids("response") == [0, 1, 2, 3]
    assert actor.stage.rules.rules[0].fired == 1


def test_other_rules_are_looked_up_anew() -> None:
    actor = warm("{client_id: other}")
    actor.stage.replace(scenario("{client_id: me}"))
    actor.ask(heartbeat_request(1))
    assert actor.ids("request") == [0]
    actor.stage.replace(scenario("{client_id: other}"))
    assert actor.ids("request") == [0, 1]
    actor.ask(heartbeat_request(2))  # from then on it is known
    assert chunks_forwarded(actor, "request", heartbeat_request(3))


def test_what_may_step_aside_leaves_the_fast_path_alone_until_it_does() -> None:
    until = "{hold: {until: {api: SyncGroup, direction: request}}}"
    actor = ruled(until, "{api: OffsetCommit, direction: request}", observed=False)
    actor.ask(heartbeat_request(0))
    actor.answer(heartbeat_response(0))
    actor.ask(heartbeat_request(1))
    assert chunks_forwarded(actor, "request", heartbeat_request(2))
    actor.ask(commit_request(3) + heartbeat_request(4))
    assert actor.ids("request") == [0, 1, 2, 4]
    actor.answer(heartbeat_response(1) + heartbeat_response(2) + heartbeat_response(4))
    assert actor.ids("response") == [0, 1, 2]  # the client asked for the commit first
    actor.ask(request("SyncGroup", 5, group_id="g"))
    assert actor.ids("request") == [0, 1, 2, 4, 5, 3]
    actor.answer(response("SyncGroup", 5) + commit_response(3))
    assert actor.ids("response") == [0, 1, 2, 3, 4, 5]
    assert chunks_forwarded(actor, "request", heartbeat_request(6))
    assert chunks_forwarded(actor, "response", heartbeat_response(6))
