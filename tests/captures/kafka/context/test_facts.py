"""Test the facts for programs in addition to bodies."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.facts import facts
from barnabas.captures.kafka.context.memory import ELEMENT, weight
from barnabas.captures.kafka.exchange import with_bodies
from barnabas.captures.kafka.phrases.context_words import context_words
from barnabas.specs.jsonform import uuid_text
from tests.captures.kafka.context.exchanges import CLICKS, ORDERS, metadata
from tests.captures.kafka.context.test_members import heartbeat
from tests.captures.kafka.context.test_sessions import fetch
from tests.places import SAMPLES


def test_a_session_with_names_where_they_are_known() -> None:
    context = Context()
    context.learn(metadata(orders=ORDERS))
    assert facts(metadata(orders=ORDERS), context) == {}
    context.learn(fetch(0, 0, {ORDERS: [2, 0], CLICKS: [1]}, version=13, answer=5))
    later = fetch(5, 1, version=13)
    context.learn(later)
    assert facts(later, context) == {
        "session": {
            "id": 5,
            "partitions": {"orders": [0, 2], uuid_text(CLICKS): [1]},
            "complete": True,
        }
    }


def test_a_dictionary_weighs_its_names_and_values() -> None:
    assert weight({"name": "orders", "partitions": {"0": "ready"}}) == 3 * ELEMENT + 26


def test_what_was_not_seen_is_null_or_incomplete() -> None:
    context = Context()
    for found in (fetch(5, 3), heartbeat(4)):
        context.learn(found)
    assert facts(fetch(5, 3), context)["session"] == {"id": 5, "partitions": {}, "complete": False}
    member = facts(heartbeat(4), context)["member"]
    assert (member["subscribed"], member["assigned"]) == (None, None)


def said(name: str, *, whole: bool) -> list[tuple[dict[str, Any], str]]:
    """Return the facts that the context adds to each exchange of a sample."""
    capture = open_capture(SAMPLES / name)
    exchanges = capture.exchanges(inferred=True)
    context = capture.context
    return [
        (facts(one, context), context_words(one, context))
        for one in capture.learn(map(with_bodies, exchanges) if whole else exchanges)
    ]


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.glob("*.pcap*")))
def test_it_is_the_same_of_bodies_that_are_decoded_and_of_fields(name: str) -> None:
    assert said(name, whole=True) == said(name, whole=False)
