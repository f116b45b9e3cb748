from __future__ import annotations

import io
import shutil
from datetime import UTC
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from rich.cells import cell_len

from barnabas.cli.console.output import Output
from barnabas.cli.console.terminal import Terminal
from barnabas.cli.top.sources import CaptureSource, Snapshot
from barnabas.cli.top.tables import drawn, printed
from barnabas.cli.top.view import TABLES, TITLES, View
from tests.barnabas.cli.console.test_terminal import HOSTILE, steers
from tests.places import SAMPLES

SIZES = [(80, 24), (120, 40), (200, 60), (40, 10)]


def snapshot(name: str = "rebalance.pcap.gz") -> dict[str, Any]:
    return CaptureSource([SAMPLES / name], None, Output()).once()


def test_the_present_of_an_old_capture_is_its_end(tmp_path: Path) -> None:
    class Stop(Event):
        def wait(self, timeout: float | None = None) -> bool:
            self.set()
            return True

    path = Path(shutil.copyfile(SAMPLES / "faults.pcapng", tmp_path / "run.pcapng"))
    snapshots: list[Snapshot] = []
    CaptureSource([path], None, Output()).follow(snapshots.append, 0.0, Stop())
    assert snapshots[-2]["now"] == snapshots[-1]["now"]
    assert snapshots[-2]["total"]["per_s"] > 0


def shown(found: dict[str, Any], view: View, width: int, height: int) -> list[str]:
    out = Terminal(file=io.StringIO(), width=width, height=height, force_terminal=False)
    out.print(drawn(found, view, "run.pcapng", (width, height), UTC), soft_wrap=False)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().splitlines()


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_screen_fits(width: int, height: int) -> None:
    for view in (View(), *(View(selected=title, alone=True) for title in TITLES)):
        lines = shown(snapshot(), view, width, height)
        assert max(map(cell_len, lines)) <= width
        assert len(lines) <= max(height, 18)


@pytest.mark.parametrize(("width", "height"), SIZES[:3])
def test_a_screen_has_all_tables(width: int, height: int) -> None:
    text = "\n".join(shown(snapshot(), View(), width, height))
    for part in (
        "run.pcapng  18:00:15  for 0:05",
        "14.7 exchanges/s",
        "17 connections",
        "p99 2004 ms",
    ):
        assert part in text
    for row in ("first ", "orders ", "readers ", "Fetch ", "req/s ▾", "q quit"):
        assert row in text


def test_a_table_alone_has_all_rows_and_the_sorting_column() -> None:
    view = View(selected="APIs", alone=True).press("<").press("<")  # total: hidden at 80 cells
    lines = shown(snapshot(), view, 80, 30)
    assert any("total ▾" in line for line in lines)
    assert sum("ms" in line or " - " in line for line in lines) >= len(snapshot()["apis"])


def test_the_state_of_the_keys_is_shown() -> None:
    assert shown(snapshot(), View(is_paused=True), 80, 24)[-1].startswith("PAUSED  q quit")
    assert shown(snapshot(), View(filter="ord"), 80, 24)[-1].startswith("filter: ord  q quit")
    assert shown(snapshot(), View(filter="o", is_typing=True), 80, 24)[-1].startswith("filter: o▏")


def test_names_do_not_steer_the_terminal() -> None:
    found = snapshot()
    for table in ("clients", "topics", "groups", "apis"):
        for row in found[table]:
            row["name"] = HOSTILE
    lines = shown(found, View(filter="\x1b[2J", is_typing=True), 120, 40) + shown(
        found, View(), 120, 40
    )
    assert steers("\n".join(lines)) == ""
    assert any("�]0;b" in line for line in lines)


def test_missed_exchanges_are_reported() -> None:
    lines = shown({**snapshot(), "missed": 3}, View(), 80, 24)
    assert "3 exchanges not counted: too many at a time" in lines


def test_a_printed_snapshot_has_every_column() -> None:
    out = Terminal(file=io.StringIO(), width=200)
    for part in printed(snapshot("faults.pcapng"), "faults.pcapng", 200, UTC):
        out.print(part)
    assert isinstance(out.file, io.StringIO)
    text = out.file.getvalue()
    for columns in TABLES.values():
        for column in columns:
            assert column.title in text


def test_a_snapshot_without_exchanges_is_drawn(tmp_path: Path) -> None:
    from barnabas.captures.kafka.context import Context
    from barnabas.captures.summary.live_figures import Figures

    lines = shown(Figures(Context()).snapshot(0), View(), 80, 24)
    assert "0 exchanges/s  0 B/s  0 errors/s  0 unanswered/s  0 faults/s" in lines
