"""`match: {partition: ...}` on every message that names partitions, by the name of their topic or its id."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from barnabas.captures.kafka.expression import Unclear
from barnabas.proxy.matching.match import Match
from barnabas.proxy.matching.message import Message, Unnamed, Unseen
from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.lint.notes import warnings
from barnabas.specs import NAMES, api
from barnabas.specs.entities import Indexes, partition_places
from barnabas.specs.frames import Direction
from barnabas.specs.layout import Layout
from tests.proxy.faults.given import message
from tests.proxy.frames import request, response
from tests.proxy.playbook import ruled

ORDERS, CLICKS = uuid.UUID(int=1), uuid.UUID(int=2)
TOPICS = {ORDERS: "orders", CLICKS: "clicks"}

DIRECTIONS: tuple[Direction, ...] = ("request", "response")

KINDS = [
    (NAMES[key], direction, version, place)
    for key in NAMES
    for direction in DIRECTIONS
    for version in range(api(key).versions[0], api(key).versions[1] + 1)
    for place in partition_places(key, direction, version)
]


def made(**settings: Any) -> Match:
    return Match.model_validate(settings)


def nested(layout: Layout, path: tuple[str, ...], leaves: list[Any]) -> dict[str, Any]:
    """Return a structure with values at the end of a path, each in its own element if there are arrays."""
    slot = next(slot for slot in layout.slots if slot.name == path[0])
    array = slot.node.kind == "array"
    if len(path) == 1:
        return {path[0]: leaves if array else leaves[0]}
    inner = (slot.node.element or slot.node).struct
    assert inner is not None
    if array:
        return {path[0]: [nested(inner, path[1:], [leaf]) for leaf in leaves]}
    return {path[0]: nested(inner, path[1:], leaves)}


def about(layout: Layout, place: Indexes, topic: uuid.UUID, index: int) -> dict[str, Any]:
    """Return a structure about one partition of a topic."""
    found = nested(layout, place.below, [index])
    if place.name is not None:
        found[place.name] = TOPICS[topic]
    if place.id is not None:
        found[place.id] = topic
    return found


def inside(layout: Layout, path: tuple[str, ...]) -> Layout:
    for step in path:
        node = next(slot.node for slot in layout.slots if slot.name == step)
        inner = (node.element or node).struct
        assert inner is not None
        layout = inner
    return layout


def naming(
    name: str,
    direction: Direction,
    version: int,
    place: Indexes,
    known: Mapping[uuid.UUID, str] = TOPICS,
) -> Message:
    """Return a message about partition 3 of orders and, if there may be two, 5 of clicks."""
    layout = api(name).message(direction).layout(version)
    at = inside(layout, place.topic)
    said = [about(at, place, ORDERS, 3), about(at, place, CLICKS, 5)]
    body = nested(layout, place.topic, said)
    found = message(name, direction, version, **body)
    found.topics, found.request = known, b""
    return found


def test_in_every_message_that_names_one_it_is_of_its_own_topic() -> None:
    for name, direction, version, place in KINDS:
        subject = naming(name, direction, version, place)
        both = len(subject.partitions()) == 2
        met: list[tuple[dict[str, Any], bool]] = [
            ({"partition": 3}, True),
            ({"partition": "2-4"}, True),
            ({"partition": [7, "5+"]}, both),
            ({"partition": [0, "6+"]}, False),
            ({"topic": "ord*", "partition": 3}, True),
            ({"topic": "clicks", "partition": 3}, False),
            ({"topic": "orders", "partition": 5}, False),
            ({"topic": "clicks", "partition": [5, 6]}, both),
        ]
        for settings, expected in met:
            match = made(api=name, **settings)
            assert match.content_matches(subject) is expected, (name, direction, version, settings)
            assert match.key_matches(direction, subject.key, version)


def test_a_topic_whose_name_is_not_known_yet_leaves_it_undecided_if_it_may_be_meant() -> None:
    by_id = [kind for kind in KINDS if kind[3].id is not None and kind[3].name is None]
    assert len(by_id) > 50
    for kind in by_id:
        subject = naming(*kind, known={CLICKS: "clicks"})
        assert not made(topic="orders", partition=4).content_matches(subject)
        assert made(partition=3).content_matches(subject)
        with pytest.raises(Unnamed) as raised:
            made(topic="orders", partition=3).content_matches(subject)
        assert raised.value.ids == {ORDERS}


def test_a_response_is_matched_by_the_partitions_that_its_request_named() -> None:
    asked = [{"name": "orders", "partition_indexes": [3]}]
    body = api("OffsetFetch").request.codec(1).encode({"group_id": "g", "topics": asked})
    answer = message("OffsetFetch", "response", 1)
    answer.request = body
    assert made(topic="orders", partition=3).content_matches(answer)
    assert not made(partition=4).content_matches(answer)
    answer = message("OffsetFetch", "response", 1)
    with pytest.raises(Unseen):
        made(partition=3).content_matches(answer)
    assert issubclass(Unseen, Unclear)


@pytest.mark.parametrize("observed", [True, False])
def test_a_rule_meets_a_response_by_its_request(observed: bool) -> None:
    commits = "{api: OffsetCommit, direction: response, topic: orders, partition: 3}"
    actor = ruled("close", commits, observed=observed)
    for number, partition in ((1, 2), (2, 3)):
        topics = [{"name": "orders", "partitions": [{"partition_index": partition}]}]
        actor.ask(request("OffsetCommit", number, version=2, group_id="g", topics=topics))
        actor.answer(response("OffsetCommit", number, version=2))
    (rule,) = actor.stage.rules.rules
    assert (rule.matched, rule.fired, rule.unclear) == (1, 1, 0)


@pytest.mark.parametrize(
    "wrong", [-1, "x", "3-", "5-3", True, 1.5, [], [1, "x"], 1 << 31, "0-2147483648"]
)
def test_what_is_no_partition_is_refused(wrong: Any) -> None:
    with pytest.raises(ValidationError):
        made(partition=wrong)


def test_words() -> None:
    words = made(api="Fetch", topic="t", partition=[0, "3-9", "12+"]).describe()
    assert words == "Fetch message of topic t of partition 0 or 3-9 or 12+"
    assert made(partition=0).needs_body


def test_where_no_partition_is_named_the_rule_can_do_nothing() -> None:
    rule = "{name: r, match: {api: Heartbeat, partition: 0}, do: close}"
    (line,) = warnings(loads(f"version: 1\nrules: [{rule}]"))
    assert line.endswith("no Heartbeat message names a partition")
