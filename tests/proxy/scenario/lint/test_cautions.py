"""Faults of which clients make more than may be meant are named, with what to use instead."""

from __future__ import annotations

import pytest

from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.lint.notes import remarks


def found(do: str) -> list[str]:
    return remarks(loads(f"version: 1\nrules: [{{name: r, match: {{api: Produce}}, do: {do}}}]"))


def test_a_selective_drop_is_said_to_break_clients_and_what_to_use() -> None:
    (line,) = found("{drop: {selective: true}}")
    assert line.startswith(
        "note: rule 'r': drop with selective takes a single response out of the order of requests"
    )
    for said in (
        "CorrelationIdMismatchException",
        "drop without selective",
        "lose_reply",
        "respond",
    ):
        assert said in line


@pytest.mark.parametrize("do", ["drop", "{drop: {selective: false}}", "lose_reply", "close"])
def test_other_losses_need_no_word(do: str) -> None:
    assert found(do) == []
