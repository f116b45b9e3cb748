"""What a reader types is a condition or plain text."""

from __future__ import annotations

import re

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.filters import Filter
from barnabas.captures.values.value import Values
from barnabas.page import query as module
from barnabas.page.query import query


def found(text: str, topic: str) -> bool:
    name = topic.encode()
    body = b"\0\0\0\1" + len(name).to_bytes(2) + name
    passes: Filter = query(text, Context())
    return passes(Exchange(0, 1, "", "me", None, 3, 0, 0, 12, request_body=body))


@pytest.mark.parametrize("topic", ["user-events", "user.events", "error.log", "ts-1"])
def test_a_topic_that_begins_with_the_name_of_a_column_is_found(topic: str) -> None:
    assert found(topic, topic)
    assert found(f"contains(topics, '{topic}')", topic)
    assert not found(topic, "orders")
    assert not found(f"contains(topics, '{topic}')", f"{topic}s")


def test_names_of_columns_and_of_fields_are_conditions() -> None:
    assert found("request.topics", "orders")
    assert not found("error", "error"), "there is none"


def test_plain_text_is_searched_in_decoded_records(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[object] = []

    def search(_: Exchange, __: Context, pattern: re.Pattern[str], values: Values) -> list[str]:
        searched.append(values)
        return [pattern.pattern]

    monkeypatch.setattr(module, "search", search)
    values = Values()
    assert query("orders", Context(), values)(Exchange(0, 1, "", "me", None, 3, 0, 0, 12))
    assert searched == [values]
