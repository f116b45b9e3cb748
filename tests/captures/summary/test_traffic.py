from __future__ import annotations

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.summary.traffic import WINDOW, Traffic
from tests.captures.checks.given import produce
from tests.captures.summary.views import sample, shown


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kip-848.pcapng", [("write", "writer", None, None, 12), ("read", "first", None, "readers", 12)]),
        ("old-formats.pcap", [("write", "writer", None, None, 12), ("read", "reader", None, "readers", 12)]),
        (
            "transactions.pcapng",
            [("write", "payments", 0, None, 8), ("read", "consumer-others-1", None, "others", 8)],
        ),
    ],
)  # fmt: skip
def test_of_real_clients(name: str, expected: list[tuple[object, ...]]) -> None:
    context = Context()
    rows = shown(Traffic(context), context, *sample(name)).rows()
    columns = ("direction", "client", "producer_id", "group", "records")
    assert [tuple(row[column] for column in columns) for row in rows] == expected
    assert {row["topic"] for row in rows} == {"orders"}


def test_rates_are_of_the_last_seconds() -> None:
    sent = [produce(at * 1000, ["a", "b"]) for at in range(30)]
    traffic = shown(Traffic(Context()), Context(), *sent)
    (row,) = traffic.rows()
    assert (row["records"], row["records_per_s"]) == (60, 2.0)
    assert row["bytes_per_s"] == pytest.approx(row["bytes"] / 30)
    (later,) = traffic.rows(now=(29 + WINDOW // 2) * 1_000_000_000)
    assert later["records_per_s"] == 1.0
    (silent,) = traffic.rows(now=100_000_000_000)
    assert (silent["records"], silent["records_per_s"]) == (60, 0)


def test_what_is_refused_is_not_written() -> None:
    given = (produce(0, ["a"], error=6), produce(1, ["a"]), produce(2, ["a"], error=None, acks=0))
    lost = produce(3, ["a"], error=None)
    (row,) = shown(Traffic(Context()), Context(), *given, lost).rows()
    assert (row["records"], row["refused"]) == (2, 1)


def test_the_last_flows_are_kept() -> None:
    sent = [produce(n, ["a"], topic=f"t{n}") for n in range(5)]
    traffic = shown(Traffic(Context(), most=2), Context(), *sent)
    assert ([row["topic"] for row in traffic.rows()], traffic.forgotten) == (["t3", "t4"], 3)
