"""The table that is made of cells."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.experiments.clients.table import counts, findings, markdown, said
from tests.experiments.clients.made import cell

CELLS = [
    cell(scenario="none"),
    cell(),
    cell("two@2", word="lost", times=2, why="1 acknowledged, <b>|gone"),
    cell("two@2", "lossy-network", word="not met"),
]


def test_a_row_a_scenario_and_a_column_a_client() -> None:
    lines = markdown(CELLS).splitlines()
    assert lines[:9] == [
        "## produce",
        "",
        "Brokers: apache:4.3.1.",
        "",
        "| scenario | one@1 | two@2 |",
        "|---|---|---|",
        "| none | fine |  |",
        "| lossy-network |  | not met |",
        "| slow-broker | fine | lost 2 of 3 |",
    ]
    assert lines[-1] == ("- two@2/produce/slow-broker: lost 2 of 3: 1 acknowledged, &lt;b>\\|gone")


def test_what_is_counted_and_what_is_found() -> None:
    assert counts(CELLS) == {"fine": 1, "lost": 1, "not met": 1}
    assert findings(CELLS) == [CELLS[2]]
    assert findings([cell(word="duplicates", promised=False), cell(word="not run")]) == []


@pytest.mark.parametrize(
    ("about", "text"),
    [
        ({}, "fine"),
        ({"times": 2}, "fine 2 of 3"),
        ({"word": "not met", "times": 0}, "not met"),
        ({"word": "slow", "slower_ms": 12_340}, "slow +12.3 s"),
        ({"word": "slow", "slower_ms": 12_340, "busy": True}, "slow +12.3 s (busy machine)"),
        ({"word": "reordered", "promised": False}, "reordered (not promised)"),
    ],
)
def test_a_cell_is_said_in_a_few_words(about: dict[str, Any], text: str) -> None:
    assert said(cell(**about)) == text
