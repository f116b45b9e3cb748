"""The exchanges of the views' benchmark are those of one long capture: new connections, later times."""

from __future__ import annotations

import asyncio

from bench import views


def test_rounds_have_their_connections_and_later_times() -> None:
    history = views.filled(700)
    exchanges = [exchange for _, exchange in history.kept()]
    assert len(exchanges) == 700
    ids = [(each.connection, each.correlation_id, each.key) for each in exchanges]
    half = len({each.connection for each in exchanges[:232]})
    assert len({connection for connection, *_ in ids}) > 2 * half
    assert exchanges[-1].ts - exchanges[0].ts > 5 * views.GAP
    assert all(each.end >= each.ts for each in exchanges)
    assert history.over


def test_each_view_that_counts_has_a_time() -> None:
    times = dict(asyncio.run(views._computed(views.filled(300))))
    assert set(times) == {"overview", "sequence", "groups", "transactions", "topics", "latency"}
    rows = views.table([views.ViewTime(name, seconds) for name, seconds in times.items()])
    assert rows.row_count == len(times)
