"""Exchanges as tests look at them: the log's columns, and which topics they name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from barnabas.captures.kafka.columns import COLUMNS
from barnabas.specs import entities
from barnabas.specs.entities import named
from barnabas.specs.frames import Direction
from barnabas.specs.layout import Layout
from barnabas.specs.registry import NAMES, api
from barnabas.testing import exchange as of_tests
from barnabas.testing.exchange import Exchange
from tests.barnabas.testing.made import exchange, row


def test_the_columns_are_those_of_the_log() -> None:
    assert tuple(one.name for one in COLUMNS) == of_tests.COLUMNS


def test_in_a_line() -> None:
    found = exchange("Fetch", 5, error="UNKNOWN_TOPIC_ID", rules=["slow"])
    assert str(found) == "00:00:05.000 maker b1 Fetch v5 UNKNOWN_TOPIC_ID 1.50 ms ⟵ slow"
    lost = exchange("Fetch", 5, client_id=None, broker=None, latency_ms=None, error=None)
    assert repr(lost) == "<00:00:05.000 127.0.0.1:5000 - Fetch v5 no response>"


def test_topics_that_stand_as_ids_are_known_by_the_context() -> None:
    found = exchange("Fetch", context={"topics": {"AAA": "orders", "BBB": None}})
    assert found.topics == {"orders"}


def test_the_customs_are_those_of_specs() -> None:
    assert entities.NAMES["topic"] == of_tests.TOPIC
    assert entities.OF_TOPICS == of_tests.OF_TOPICS
    assert entities.RESPONSES_OF_TOPICS == of_tests.RESPONSES_OF_TOPICS


@pytest.mark.parametrize("key", NAMES)
def test_in_every_message_the_topics_are_those_that_specs_finds(key: int) -> None:
    directions: tuple[Direction, ...] = ("request", "response")
    for direction in directions:
        message = api(key).message(direction)
        for version in message.versions:
            body = _filled(message.layout(version), iter(range(1000)))
            found = Exchange.of({**row(NAMES[key], version=version), direction: body}).topics
            assert found == named("topic", key, direction, version, body)


def _filled(layout: Layout, numbers: Iterator[int]) -> dict[str, Any]:
    """A body of that layout with another string in every place where there can be one."""
    found: dict[str, Any] = {}
    for slot in layout.slots:
        node = slot.node.element or slot.node
        value: Any = None
        if node.struct is not None:
            value = _filled(node.struct, numbers)
        elif node.kind == "string":
            value = f"text {next(numbers)}"
        found[slot.name] = [value] if slot.node.element is not None else value
    return found
