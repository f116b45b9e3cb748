from __future__ import annotations

import pytest

from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.lint.notes import remarks


def found(rule: str) -> list[str]:
    return remarks(loads(f"version: 1\nrules: [{{name: r, {rule}, do: close}}]"))


@pytest.mark.parametrize(("rule", "cost"), [
    ("match: {api: Fetch, direction: request}, where: '@'", "the whole body of each Fetch request"),
    ("where: '`1`'", "the whole body of each"),
    (
        'match: {api: Produce, direction: request}, where: "topic_data[].name && acks == 1"',
        "all topic_data of each Produce request",
    ),
    (
        "match: {api: Fetch}, where: 'length(responses) && topics && session_id'",
        "all responses and topics of each Fetch message",
    ),
])  # fmt: skip
def test_what_costs_more_than_a_field(rule: str, cost: str) -> None:
    (line,) = found(rule)
    assert line.startswith(f"note: rule 'r' decodes {cost}")


@pytest.mark.parametrize("rule", [
    "match: {api: Fetch}", "match: {api: Fetch}, where: 'max_wait_ms > 5 && session_id'",
    "match: {api: Produce, direction: request}, where: \"acks == 1 && transactional_id != 'a'\"",
])  # fmt: skip
def test_fields_of_the_top_level_cost_nothing_worth_a_line(rule: str) -> None:
    assert found(rule) == []
