"""Where text goes: as wide as the terminal, and whole where there is none."""

from __future__ import annotations

import ast
import io
import re
import sys

import pytest
from rich.table import Table
from rich.text import Text

from barnabas.captures.summary.api_stats import Row
from barnabas.cli.console.tables import tally_table
from barnabas.cli.console.terminal import Terminal
from tests.places import ROOT

NAMES = [f"{letter}_NOT_ENOUGH_REPLICAS_AFTER_APPEND" for letter in "ABCDEFGH"]


def table(*rows: tuple[str, str]) -> Table:
    found = Table(box=None, pad_edge=False)
    for name in ("what", "errors"):
        found.add_column(name)
    for row in rows:
        found.add_row(*map(Text, row))
    return found


def printed(to: io.StringIO, monkeypatch: pytest.MonkeyPatch, found: Table) -> list[str]:
    monkeypatch.setattr(sys, "stdout", to)
    Terminal().show_table(found)
    return Text.from_ansi(to.getvalue()).plain.splitlines()


@pytest.mark.parametrize("environment", [{}, {"COLUMNS": "80"}, {"FORCE_COLOR": "1"}])
def test_without_a_terminal_a_table_is_whole(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    wide = ", ".join(NAMES)
    lines = printed(io.StringIO(), monkeypatch, table(("t" * 200, wide), ("few", "words")))
    assert [re.split("  +", line.rstrip()) for line in lines] == [
        ["what", "errors"],
        ["t" * 200, wide],
        ["few", "words"],
    ]


def test_the_table_of_apis() -> None:
    rows = [Row("Fetch", 1200, 3, 0.512, 98.76, 501.2), Row("Produce", 7, None, None, None, None)]
    out = io.StringIO()
    Terminal(file=out, width=100).show_table(tally_table(rows))
    assert out.getvalue().splitlines() == [
        "API      count  errors  p50 ms  p99 ms  max ms",
        "Fetch     1200       3    0.51    98.8     501",
        "Produce      7       -       -       -       -",
    ]


def test_nobody_has_a_console_of_another_kind() -> None:
    makers = {
        path.name
        for path in (ROOT / "barnabas").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id.endswith("Console")
    }
    assert not makers
