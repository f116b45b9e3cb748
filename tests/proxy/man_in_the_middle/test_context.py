"""What goes wrong between a client and a broker, 15: messages do not say all they mean.

What the context learns by itself: tests/captures/context. Here it hears what a connection makes of
frames, from the beginning and from the middle.
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.log_line import details
from tests.proxy.frames import Chunks, commit_request, request, response, slicings
from tests.proxy.playbook import Actor, Stage, one_rule, ruled

ORDERS = uuid.UUID("6d1f0c38-3a8e-4a8c-9d3e-2f6f5a3c1b7e")


BY_NAME = {
    "match": ("{api: Fetch, topic: orders}",),
    "where": ("{api: Fetch, direction: request}", "where: \"topics[?topic == 'orders']\""),
}
"""Rules about a topic by its name."""


class Heard:
    """A connection and a context that hears it."""

    def __init__(self, chunks: Chunks, actor: Actor | None = None) -> None:
        self.actor = actor or Stage().actor()
        self.context = Context()
        self.chunks = chunks

    def exchange(
        self, name: str, version: int, asked: dict[str, Any], answer: dict[str, Any]
    ) -> str:
        """What the log says of an exchange."""
        self.actor.ask(request(name, 1, version=version, **asked), self.chunks)
        self.actor.answer(response(name, 1, version=version, **answer), self.chunks)
        found = self.actor.done[-1]
        self.context.learn(found)
        return details(found, self.context)

    def metadata(self) -> str:
        topics = [{"name": "orders", "topic_id": ORDERS}]
        return self.exchange("Metadata", 12, {"topics": None}, {"topics": topics})


def fetch(session: int, epoch: int, *partitions: int) -> dict[str, Any]:
    topics = [{"topic_id": ORDERS, "partitions": [{"partition": n} for n in partitions]}]
    return {
        "session_id": session,
        "session_epoch": epoch,
        "topics": topics if partitions else [],
    }


@slicings
def test_15_topic_ids_have_names_once_metadata_has_passed(chunks: Chunks) -> None:
    heard = Heard(chunks)
    committed = {"partition_index": 0, "committed_offset": 5}
    asked = {"group_id": "g", "topics": [{"topic_id": ORDERS, "partitions": [committed]}]}
    assert heard.exchange("OffsetCommit", 10, asked, {}) == "g bR8MODqO[0=5]"
    heard.metadata()
    assert heard.exchange("OffsetCommit", 10, asked, {}) == "g orders[0=5]"


@slicings
def test_15_an_incremental_fetch_is_completed_by_its_session(chunks: Chunks) -> None:
    heard = Heard(chunks)
    heard.metadata()
    heard.exchange("Fetch", 13, fetch(0, 0, 0, 1, 2), {"session_id": 9})
    said = heard.exchange("Fetch", 13, fetch(9, 1), {"session_id": 9})
    assert said == "empty, session 9: 3 partitions orders[0-2]"


@slicings
def test_15_joining_in_mid_session_it_says_what_it_does_not_know(chunks: Chunks) -> None:
    heard = Heard(chunks)
    said = heard.exchange("Fetch", 13, fetch(123, 7), {"session_id": 123})
    assert said == "empty, session 123 that began earlier"
    beat = {"group_id": "g", "member_id": "m", "member_epoch": 3}
    said = heard.exchange("ConsumerGroupHeartbeat", 1, beat, {"member_id": "m", "member_epoch": 3})
    assert said == "g epoch 3 member m, assignment not seen"


@slicings
def test_15_a_session_goes_on_over_another_connection_to_its_broker(chunks: Chunks) -> None:
    stage = Stage()
    one, two = Heard(chunks, stage.actor()), Heard(chunks, stage.actor())
    two.context = one.context
    one.metadata()
    one.exchange("Fetch", 13, fetch(0, 0, 4), {"session_id": 9})
    said = two.exchange("Fetch", 13, fetch(9, 1), {"session_id": 9})
    assert said == "empty, session 9: 1 partition orders[4]"


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
    assert len(stage.shared.questions) == 0


@slicings
@pytest.mark.parametrize(
    ("name", "version", "topics"),
    [
        ("Produce", 13, "topic_data"),
        ("Fetch", 17, "topics"),
        ("OffsetCommit", 10, "topics"),
        ("TxnOffsetCommit", 6, "topics"),
        ("ConsumerGroupHeartbeat", 1, "topic_partitions"),
        ("ShareFetch", 1, "topics"),
        ("ShareAcknowledge", 1, "topics"),
    ],
)
def test_15_a_topic_is_matched_by_its_id_in_every_api_that_has_ids_alone(
    chunks: Chunks, name: str, version: int, topics: str
) -> None:
    actor = ruled("{delay: 1s}", "{topic: ord*}")
    stage = actor.stage
    body: dict[str, Any] = {topics: [{"topic_id": ORDERS}]}
    actor.ask(request(name, 1, version=version, **body), chunks)
    (rule,) = stage.rules.rules
    assert (rule.matched, rule.unclear) == (0, 1)
    assert stage.shared.questions.next(stage.shared.topics, stage.now) == (ORDERS,)
    assert [line for line in actor.said if "undecided" in line] == [
        "connection 1 (me@client:1): rule 'r' undecided: "
        "topic ID not yet resolved; treated as no match, and counted"
    ]
    stage.shared.topics[ORDERS] = "orders"
    actor.ask(request(name, 2, version=version, **body), chunks)
    assert (rule.matched, rule.unclear) == (1, 1)
    assert stage.shared.questions.next(stage.shared.topics, stage.now) == ()


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
    assert stage.shared.questions.next(stage.shared.topics, stage.now) == (ORDERS,)
    stage.shared.topics[ORDERS] = "orders"
    other.ask(request("Fetch", 2, version=13, **fetch(0, 0, 0)))
    assert actor.ids("request") == [1]
