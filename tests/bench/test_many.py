"""Many connections, and what toxiproxy is told: against the bench's own server, without a proxy."""

from __future__ import annotations

import threading
from multiprocessing import Pipe

import pytest

from bench import many, server
from bench.proxies import Cell, Row, tables
from bench.targets import Kind


@pytest.fixture(scope="module")
def port() -> int:
    ours, theirs = Pipe()
    threading.Thread(target=server.serve, args=(theirs,), daemon=True).start()
    found: int = ours.recv()
    return found


def test_every_connection_gets_its_answers(port: int) -> None:
    result = many.run(port, 20, 0.2)
    assert len(result.latencies) >= 20
    assert result.bytes == 400 * len(result.latencies)
    assert 0.2 <= result.seconds < 10


def test_tables_show_a_dash_for_what_was_not_measured() -> None:
    rows = [Row(Kind("direct")), Row(Kind("barnabas", ("x",)))]
    for row in rows:
        for cell in row.cells.values():
            cell.rates.append(2e6)
    rows[1].cells["64 connections"] = Cell()
    bulk, trips, cost = tables(rows, "")
    assert list(bulk.columns[1].cells) == ["2 (1.00)", "2 (1.00)"]
    assert list(trips.columns[3].cells) == ["5,000 (1.00)", "-"]
    assert list(cost.columns[5].cells) == ["-"]
