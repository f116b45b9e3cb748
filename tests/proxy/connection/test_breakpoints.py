"""What somebody decides about messages that wait, on a virtual clock."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.proxy.connection.breakpoints import HaltedMessage
from barnabas.proxy.matching.message import Unable
from barnabas.specs.frames import Direction
from tests.proxy.faults.given import halted, produce
from tests.proxy.frames import (
    Chunks,
    heartbeat_request,
    heartbeat_response,
    request,
    response,
    slicings,
)
from tests.proxy.playbook import MS, START, Actor, ruled

REQUESTS = "{direction: request}"
RESPONSES = "{direction: response}"


def halting(match: str, more: str = "when: {}") -> Actor:
    """Return a connection with a breakpoint."""
    return ruled("breakpoint", match, more)


def waiting(actor: Actor) -> list[str]:
    return [one.id for one in halted(actor)]


def settled(actor: Actor) -> None:
    """Assert that nothing in flight remains."""
    state = actor.connection.state
    assert not [*state.pairing.waiting, *state.replies, *state.order.expected]
    assert all(queue.idle and not queue.bytes for queue in state.queues.values())


def never(actor: Actor, direction: Direction) -> list[tuple[int, str]]:
    """Frames of which the capture has it that they never left, and why."""
    return [
        (comment["frame"], comment["note"])
        for way, data, comment in actor.left
        if way == direction and not data
    ]


@slicings
def test_what_waits_is_shown_with_how_long_its_client_does(chunks: Chunks) -> None:
    actor = halting("{api: Produce}")
    actor.stage.wait(5)
    actor.ask(produce(9), chunks)
    actor.stage.wait(5)
    (found,) = halted(actor)
    assert found == HaltedMessage(
        id="1.1", rule="r", connection=1, client="client:1", client_id="me", broker=1,
        direction="request", key=0, version=7, correlation_id=9, size=len(produce(9)),
        since=START + 5 * MS, until=START + 300_005 * MS, request_arrived=START + 5 * MS,
        timeout=("timeout_ms", 10),
    )  # fmt: skip
    body = actor.connection.breakpoints.message("1.1").body
    assert produce(9).endswith(body)
    assert len(body) == 27


@pytest.mark.parametrize(("name", "field", "ms"), [
    ("Produce", "timeout_ms", 30_000), ("CreateTopics", "timeout_ms", 60_000),
    ("JoinGroup", "rebalance_timeout_ms", 300_000), ("Fetch", "max_wait_ms", 500),
])  # fmt: skip
def test_how_long_a_client_waits_is_what_its_request_says(name: str, field: str, ms: int) -> None:
    actor = halting(f"{{api: {name}}}")
    said: dict[str, Any] = {field: ms}
    actor.ask(request(name, 1, **said))
    (found,) = halted(actor)
    assert found.timeout == (field, ms)


@slicings
def test_of_a_response_it_is_known_what_the_request_said(chunks: Chunks) -> None:
    actor = ruled("breakpoint", RESPONSES, observed=False)
    actor.ask(produce(1) + heartbeat_request(2), chunks)
    actor.stage.wait(7)
    actor.answer(response("Produce", 1, version=7) + heartbeat_response(2), chunks)
    first, second = halted(actor)
    assert (first.timeout, first.request_arrived, first.since) == (
        ("timeout_ms", 10),
        START,
        START + 7 * MS,
    )
    assert second.timeout is None


@slicings
@pytest.mark.parametrize("direction", ["request", "response"])
def test_each_is_decided_on_by_its_own_id_and_leaves_in_its_turn(
    chunks: Chunks, direction: Direction
) -> None:
    actor = halting(f"{{direction: {direction}}}")
    actor.ask(heartbeat_request(1) + heartbeat_request(2) + heartbeat_request(3), chunks)
    if direction == "response":
        actor.answer(heartbeat_response(1) + heartbeat_response(2) + heartbeat_response(3), chunks)
    assert waiting(actor) == ["1.1", "1.2", "1.3"]
    assert actor.stage.decide("1.2") == ("let go",)
    assert (waiting(actor), actor.ids(direction)) == (["1.1", "1.3"], [])
    with pytest.raises(LookupError):
        actor.stage.decide("1.2", "drop")
    actor.stage.decide("1.1")
    assert (waiting(actor), actor.ids(direction)) == (["1.3"], [1, 2])
    actor.stage.decide("1.3")
    assert actor.ids(direction) == [1, 2, 3]
    assert actor.stage.rules.rule("r").released == 3


@slicings
def test_a_changed_request_leaves_with_other_fields_and_is_answered(chunks: Chunks) -> None:
    actor = halting(REQUESTS)
    actor.ask(heartbeat_request(1), chunks)
    edits = [{"edit": {"set": {name: "another"}}} for name in ("group_id", "member_id")]
    said = actor.stage.decide("1.1", edits)
    assert said == ("edit group_id=another", "edit member_id=another")
    expected = heartbeat_request(1, group_id="another", member_id="another")
    assert actor.frames("request") == [expected]
    assert [comment["edits"] for *_, comment in actor.left] == [[*said]]
    actor.answer(heartbeat_response(1), chunks)
    assert actor.ids("response") == [1]
    settled(actor)


@slicings
def test_a_changed_response_leaves_with_the_fields_or_the_bytes_that_were_given(
    chunks: Chunks,
) -> None:
    actor = halting(RESPONSES)
    actor.ask(heartbeat_request(1) + heartbeat_request(2), chunks)
    actor.answer(heartbeat_response(1) + heartbeat_response(2), chunks)
    actor.stage.decide("1.2", {"replace": {"hex": "beef"}})
    actor.stage.decide("1.1", [{"edit": {"set": {"error_code": 27}}}])
    wrong = (6).to_bytes(4) + (2).to_bytes(4) + b"\xbe\xef"
    assert actor.frames("response") == [heartbeat_response(1, 27), wrong]
    settled(actor)


@slicings
def test_what_can_not_be_done_leaves_it_waiting_as_it_is(chunks: Chunks) -> None:
    actor = halting(REQUESTS)
    actor.ask(heartbeat_request(1), chunks)
    wrong: list[Any] = [
        {"edit": {"set": {"group_instance_id": "x"}}},
        {"edit": {"set": {"retention_time_ms": 1}}},
        [{"edit": {"set": {"group_id": "h"}}}, {"edit": {"set": {"group_instance_id": "x"}}}],
        {"replace": {"body": {"topics": []}}},
    ]
    for do in wrong:
        with pytest.raises(Unable):
            actor.stage.decide("1.1", do)
    assert waiting(actor) == ["1.1"]
    actor.stage.decide("1.1")
    assert actor.frames("request") == [heartbeat_request(1)]


@slicings
def test_the_proxy_answers_in_its_turn_and_the_broker_never_hears_of_it(chunks: Chunks) -> None:
    actor = halting(REQUESTS, "when: {skip: 1, times: 1}")
    actor.ask(heartbeat_request(1) + heartbeat_request(2) + heartbeat_request(3), chunks)
    actor.stage.decide("1.1", {"respond": {"error": "NOT_COORDINATOR"}})
    assert (actor.ids("request"), actor.ids("response")) == ([1, 3], [])
    actor.answer(heartbeat_response(1) + heartbeat_response(3), chunks)
    assert actor.frames("response") == [
        heartbeat_response(1),
        heartbeat_response(2, 16),
        heartbeat_response(3),
    ]
    assert never(actor, "request") == [(1, "answered by the proxy")]
    settled(actor)


@slicings
@pytest.mark.parametrize("direction", ["request", "response"])
def test_one_exchange_is_dropped_alone_or_with_all_behind_it(
    chunks: Chunks, direction: Direction
) -> None:
    for selective, left in ((True, [1, 3]), (False, [1])):
        actor = halting(f"{{direction: {direction}}}")
        actor.ask(heartbeat_request(1) + heartbeat_request(2) + heartbeat_request(3), chunks)
        if direction == "response":
            actor.answer(
                heartbeat_response(1) + heartbeat_response(2) + heartbeat_response(3), chunks
            )
        actor.stage.decide("1.2", {"drop": {"selective": selective}})
        actor.stage.decide("1.1")
        for one in waiting(actor):
            actor.stage.decide(one)
        assert actor.ids(direction) == left
        assert actor.connection.state.queues[direction].lost is not selective
        lost = [(1, f"{direction} dropped by a rule")]
        behind = [(2, f"{direction} lost after a dropped one")]
        assert never(actor, direction) == lost + behind * (not selective)
        notes = [(2, lost[0][1]), *((3, note) for _, note in behind * (not selective))]
        assert [(x.correlation_id, x.note) for x in actor.done if "drop" in x.note] == notes
        assert actor.connection.state.queues[direction].bytes == 0


def test_the_capture_has_that_it_leaves_later() -> None:
    actor = halting(REQUESTS)
    actor.ask(heartbeat_request(1))
    actor.stage.decide("1.1")
    what = ["breakpoint, at most 300 s"]
    assert actor.cuts == [{"frame": 0, "rules": ["r"], "what": what, "left": "later"}]
    assert [(data, comment) for _, data, comment in actor.left] == [
        (heartbeat_request(1), {"frame": 0})
    ]


def test_of_many_that_wait_on_several_connections_the_oldest_are_listed() -> None:
    first = halting("{}")
    second = first.stage.actor()
    for number in range(3):
        for actor in (second, first):
            actor.ask(heartbeat_request(number))
            actor.stage.wait(1)
    assert [one.id for one in halted(first, second, most=3)] == ["2.1", "1.1", "2.2"]
    assert len(halted(first, second)) == 6
