"""What goes wrong between a client and a broker, 15: messages do not say all they mean.

What the log's context learns: tests/captures/kafka/context. Here: what rules know of topics and groups.
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.proxy.frames import Chunks, commit_request, request, response, slicings
from tests.proxy.playbook import Stage, one_rule, ruled

ORDERS = uuid.UUID("6d1f0c38-3a8e-4a8c-9d3e-2f6f5a3c1b7e")


BY_NAME = {
    "match": ("{api: Fetch, topic: orders}",),
    "where": ("{api: Fetch, direction: request}", "where: \"topics[?topic == 'orders']\""),
}
"""Rules about a topic by its name."""


def fetch(session: int, epoch: int, *partitions: int) -> dict[str, Any]:
    topics = [{"topic_id": ORDERS, "partitions": [{"partition": n} for n in partitions]}]
    return {"session_id": session, "session_epoch": epoch, "topics": topics if partitions else []}


@slicings
def test_15_a_heartbeat_response_names_no_group_its_request_does(chunks: Chunks) -> None:
    """A hold on `same: group` knows the group of a response by its request."""
    until = "{hold: {until: {api: Heartbeat, direction: response, same: group}, at_most: 5s}}"
    actor = ruled(until, "{api: OffsetCommit, direction: request}")
    other = actor.stage.actor()
    actor.ask(commit_request(1), chunks)
    for group in ("another", "g"):
        assert actor.frames("request") == []
        other.ask(request("Heartbeat", 2, group_id=group), chunks)
        other.answer(response("Heartbeat", 2), chunks)
    assert actor.ids("request") == [1]


@slicings
@pytest.mark.parametrize("observed", [True, False])
def test_15_a_rule_asks_for_a_topic_by_name_and_counts_what_it_can_not_tell(
    chunks: Chunks, observed: bool
) -> None:
    actor = ruled("{delay: 1s}", *BY_NAME["where"], observed=observed)
    stage, other = actor.stage, actor.stage.actor()
    asked = request("Fetch", 1, version=13, **fetch(0, 0, 0))
    actor.ask(asked, chunks)
    actor.answer(response("Fetch", 1, version=13), chunks)
    (rule,) = stage.rules.rules
    assert (rule.matched, rule.unclear) == (0, 1)
    assert rule.doubt == "topic ID not yet resolved"
    assert [line for line in actor.said if "undecided" in line] == [
        "connection 1 (me@client:1): rule 'r' undecided: "
        "topic ID not yet resolved; treated as no match, and counted"
    ]
    other.ask(request("Metadata", 1, version=12), chunks)  # whoever asks, all know it then
    topics = [{"name": "orders", "topic_id": ORDERS}]
    other.answer(response("Metadata", 1, version=12, topics=topics), chunks)
    actor.ask(asked, chunks)
    assert (rule.matched, rule.unclear) == (1, 1)
    assert actor.frames("request") == [asked]
    stage.wait(1000)
    assert actor.frames("request") == [asked, asked]
    by_id = request("Fetch", 2, version=13, session_id=1, session_epoch=1, topics=[])
    actor.ask(by_id, chunks)
    assert (rule.matched, rule.unclear) == (1, 1)  # it names no topic at all


@slicings
@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("by", BY_NAME)
def test_15_a_rule_that_is_loaded_later_knows_the_topics_that_were_named_before(
    chunks: Chunks, observed: bool, by: str
) -> None:
    stage = Stage(observed=observed)
    actor, other = stage.actor(), stage.actor()
    other.ask(request("Metadata", 1, version=12), chunks)
    topics = [{"name": "orders", "topic_id": ORDERS}]
    other.answer(response("Metadata", 1, version=12, topics=topics), chunks)
    actor.ask(request("Heartbeat", 1, version=3), chunks)
    actor.answer(response("Heartbeat", 1, version=3), chunks)
    stage.replace(one_rule("{delay: 1s}", *BY_NAME[by]))
    actor.ask(request("Fetch", 2, version=13, **fetch(0, 0, 0)), chunks)
    (rule,) = stage.rules.rules
    assert (rule.matched, rule.fired, rule.unclear) == (1, 1, 0)
    assert len(stage.shared.unresolved) == 0


def test_15_a_response_whose_request_passed_before_the_rule_came_is_not_decided() -> None:
    stage = Stage(observed=False)
    actor = stage.actor()
    for number in (1, 2):
        actor.ask(request("Heartbeat", number, version=3, group_id="g"))
    stage.replace(one_rule("{delay: 1s}", "{direction: response, group: g}"))
    actor.ask(request("Heartbeat", 3, version=3, group_id="g"))
    for number in (1, 2, 3):
        actor.answer(response("Heartbeat", number, version=3))
    (rule,) = stage.rules.rules
    assert (rule.matched, rule.unclear) == (1, 2)
    assert rule.doubt == "its request passed before any rule needed the names in it"
    assert sum("undecided" in line for line in actor.said) == 1


def test_15_a_hold_until_a_topic_wants_its_name_to_be_known() -> None:
    until = "{api: Fetch, topic: orders, same: any}"
    actor = ruled(f"{{hold: {{until: {until}, at_most: 5s}}}}")
    stage, other = actor.stage, actor.stage.actor()
    actor.ask(request("Heartbeat", 1, version=3))
    other.ask(request("Fetch", 1, version=13, **fetch(0, 0, 0)))
    assert actor.ids("request") == []
    assert stage.shared.unresolved.next(stage.shared.topics, stage.now) == (ORDERS,)
    stage.shared.topics[ORDERS] = "orders"
    other.ask(request("Fetch", 2, version=13, **fetch(0, 0, 0)))
    assert actor.ids("request") == [1]
