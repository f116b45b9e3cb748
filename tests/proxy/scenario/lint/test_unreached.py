"""Rules that are never asked are said, with the one before them; nothing is said of those that may be."""

from __future__ import annotations

import pytest

from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.lint.notes import warnings


def found(*rules: str) -> list[str]:
    return warnings(loads("version: 1\nrules:\n" + "".join(f"- {{{rule}}}\n" for rule in rules)))


ENDS = [
    ("do: close", "match: {api: Fetch}, do: {delay: 1s}"),
    ("do: drop", "match: {topic: t}, do: close"),
    ("match: {api: [Fetch, Produce]}, do: reset", "match: {api: Fetch, client_id: a}, do: close"),
    ("match: {client_id: [a, b]}, do: blackhole", "match: {client_id: b}, do: close"),
    ("match: {api: Fetch, version: 3-9}, do: close", "match: {api: Fetch, version: 4}, do: drop"),
    (
        "match: {direction: request}, do: [{delay: 1s}, {close: {forward: true}}]",
        "match: {direction: request}, do: duplicate",
    ),
]


@pytest.mark.parametrize(("before", "rule"), ENDS)
def test_a_rule_behind_an_end_of_all_its_messages_is_said(before: str, rule: str) -> None:
    assert found(f"name: end, {before}", f"name: r, {rule}") == [
        "warning: rule 'r' never fires: rule 'end' before it ends every message that it matches"
    ]
    assert found(f"name: r, {rule}", f"name: end, {before}") == []


@pytest.mark.parametrize(("before", "rule"), [
    ("match: {api: Fetch}, do: close", "do: {delay: 1s}"),
    ("match: {version: 3}, do: close", "match: {version: 3+}, do: {delay: 1s}"),
    ("match: {client_id: a}, do: close", "match: {api: Fetch}, do: {delay: 1s}"),
    ("match: {topic: t}, do: close", "match: {topic: t}, do: {delay: 1s}"),
    ("match: {api: Fetch}, where: max_wait_ms == `1`, do: close", "match: {api: Fetch}, do: {delay: 1s}"),
    ("when: {times: 1}, do: close", "match: {api: Fetch}, do: {delay: 1s}"),
    ("when: {skip: 1}, do: close", "match: {api: Fetch}, do: {delay: 1s}"),
    ("do: {delay: 1s}", "match: {api: Fetch}, do: close"),
    ("match: {api: Fetch}, do: {respond: {error: 3}}", "match: {api: Fetch}, do: close"),
    ("do: close", "do: refuse"),
])  # fmt: skip
def test_a_rule_that_may_be_asked_is_not(before: str, rule: str) -> None:
    assert not [line for line in found(f"name: end, {before}", f"name: r, {rule}") if "'r'" in line]
