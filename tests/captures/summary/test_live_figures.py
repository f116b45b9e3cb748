from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import UNANSWERED
from barnabas.captures.summary.live_figures import NAMES, Figures
from barnabas.captures.summary.traffic import SECOND, WINDOW
from tests.captures.checks.given import Body, exchange, produce
from tests.captures.summary.views import sample, shown


def metadata(at: float, **fields: Any) -> Exchange:
    fields = {"client": "app", "took": 2.0, **fields}
    one = exchange(
        "Metadata",
        1,
        {"topics": []},
        {"brokers": [], "controller_id": 1, "topics": []},
        at=at,
        **fields,
    )
    return dataclasses.replace(one, response_size=30)


def figures_of(*exchanges: Exchange) -> Figures:
    context = Context()
    return shown(Figures(context), context, *exchanges)


def refused_join(at: float) -> Exchange:
    """Make the first JoinGroup of a new member, whose error is part of normal operation (KIP-394)."""
    timeouts = {"session_timeout_ms": 1, "rebalance_timeout_ms": 1, "group_instance_id": None}
    request: Body = {
        "group_id": "g",
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": [],
        **timeouts,
    }
    names = {"protocol_name": "", "leader": "", "member_id": "m", "members": []}
    refused = {"throttle_time_ms": 0, "error_code": 79, "generation_id": -1, **names}
    return exchange("JoinGroup", 5, request, refused, at=at)


def by_name(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in rows}


def test_rates_cover_the_window_or_the_time_since_the_first_exchange() -> None:
    figures = figures_of(*(metadata(at * 100) for at in range(300)))  # ten a second, for 30 s
    full = figures.snapshot(30 * SECOND)
    assert full["window_s"] == pytest.approx(9.0)  # whole seconds: the last has just begun
    assert (full["total"]["count"], full["total"]["per_s"]) == (300, pytest.approx(10.0))
    late = figures.snapshot((30 + WINDOW // 2) * SECOND)
    assert late["total"]["per_s"] == pytest.approx(40 / 9)
    silent = figures.snapshot(100 * SECOND)
    assert (silent["total"]["count"], silent["total"]["per_s"], silent["connections"]) == (
        300,
        0,
        0,
    )
    (app,) = silent["clients"]
    assert (app["name"], app["count"], app["p50_ms"], app["last_api"]) == (
        "app",
        300,
        None,
        "Metadata",
    )
    early = figures_of(metadata(0), metadata(100)).snapshot(4 * SECOND)
    assert early["total"]["per_s"] == pytest.approx(2 / 4, rel=0.01)


def test_no_window_is_shorter_than_a_second() -> None:
    snapshot = figures_of(metadata(0)).snapshot(SECOND // 100)
    assert (snapshot["window_s"], snapshot["total"]["per_s"]) == (1.0, 1.0)


def test_errors_faults_and_silence_are_counted_apart() -> None:
    sent = (
        produce(0, ["a"], error=6),
        refused_join(at=1),
        dataclasses.replace(produce(2, ["a"], error=None, acks=0), note=UNANSWERED),
        dataclasses.replace(produce(3, ["a"], error=None), note="no response: connection closed"),
        dataclasses.replace(metadata(4), rules=("slow",)),
    )
    sized = (
        each if each.response_body is None else dataclasses.replace(each, response_size=9)
        for each in sent
    )
    total = figures_of(*sized).snapshot(SECOND)["total"]
    rates = [total[f"{kind}_per_s"] for kind in ("errors", "unanswered", "faults")]
    assert (total["count"], rates) == (5, [1, 1, 1])


def test_topics_are_written_and_read() -> None:
    figures = figures_of(*sample("transactions.pcapng"))
    orders = by_name(figures.snapshot(figures.last)["topics"])["orders"]
    assert orders["write_records_per_s"] > 0
    assert orders["write_bytes_per_s"] > orders["write_records_per_s"]
    assert orders["read_records_per_s"] == orders["write_records_per_s"]


@pytest.mark.parametrize(
    ("name", "states"),
    [
        (
            "rebalance.pcap.gz",
            [(0, "empty"), (1, "rebalancing"), (1, "stable"), (2, "rebalancing"), (2, "stable"),
             (1, "rebalancing"), (0, "empty")],
        ),
        ("kip-848.pcapng", [(1, None), (2, None), (1, None), (0, "empty")]),
    ],
)  # fmt: skip
def test_groups_have_their_present_state(name: str, states: list[tuple[int, str | None]]) -> None:
    context, seen = Context(), []
    figures = Figures(context)
    for each in sample(name):
        shown(figures, context, each)
        for group in figures.snapshot(figures.last)["groups"]:
            seen.append((group["members"], group["state"]))
    changes = [state for state, before in zip(seen, [None, *seen], strict=False) if state != before]
    assert changes == states
    (group,) = figures.snapshot(figures.last)["groups"]
    assert (group["name"], group["lag"]) == ("readers", 0)


def test_names_beyond_the_most_are_forgotten_and_counted() -> None:
    figures = figures_of(*(metadata(at, client=f"c{at}") for at in range(NAMES + 5)))
    snapshot = figures.snapshot(2 * SECOND)
    assert (len(snapshot["clients"]), snapshot["forgotten"]) == (NAMES, 5)
    assert snapshot["total"]["count"] == NAMES + 5
