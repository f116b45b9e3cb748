"""What flows say of themselves becomes numbers and names of all."""

from __future__ import annotations

import uuid
from random import Random
from typing import Any

import pytest

from barnabas.captures.kafka.context.memory import BYTES, Memory
from barnabas.captures.reader import UNNUMBERED
from barnabas.pipeline.reading.facts import Completion, Facts, gather
from barnabas.pipeline.reading.outcomes import ALL, HEAD, Outcome, Position, travelling
from barnabas.pipeline.rows.columns import EXCHANGES
from barnabas.pipeline.rows.exchanges import batch
from barnabas.specs.jsonform import uuid_text


def said(kind: str, section: int, of: int, at: int, **more: Any) -> Outcome:
    return Outcome(kind, section, of, Position(at, 0, 1), more)


def capture(*sections: bool) -> Outcome:
    """What is known of the files: whether barnabas wrote each section."""
    return said("capture", 0, 0, 0, sections=[*sections], packets=9, notes=[], faults=[])


def test_connections_of_others_are_numbered_as_they_were_recognised() -> None:
    rows = [
        said("connection", 0, UNNUMBERED + created, at)
        for created, at in ((3, 90), (5, 40), (9, 60))
    ]
    for _ in range(4):
        Random(7).shuffle(rows)
        facts = gather([*rows, capture(False)])
        assert facts.connections == {
            (0, UNNUMBERED + 5): 1,
            (0, UNNUMBERED + 9): 2,
            (0, UNNUMBERED + 3): 3,
        }


def test_sections_count_on_and_flows_without_a_name_are_below_zero() -> None:
    rows = [
        said("flow", 0, UNNUMBERED + 1, 4),
        said("flow", 0, UNNUMBERED + 7, 28),
        said("connection", 0, 4, 4),
        said("connection", 0, -(UNNUMBERED + 7), 28),
        said("connection", 1, 2, 400),
    ]
    facts = gather([*rows, capture(True, True)])
    assert facts.connections == {(0, 4): 4, (0, -(UNNUMBERED + 7)): -2, (1, 2): 6}


def test_an_address_of_two_brokers_or_of_two_clusters_says_nothing() -> None:
    def broker(
        address: str, node: int, cluster: str | None = "c", several: bool = False
    ) -> Outcome:
        return said("broker", 0, 0, 0, address=address, node=node, cluster=cluster, several=several)

    one = [broker("a:1", 1), broker("b:1", 2), broker("b:1", 3), broker("c:1", 4, None)]
    assert gather(one).brokers == {"a:1": 1, "b:1": None, "c:1": 4}
    assert gather([*one, broker("d:1", 5, "other")]).brokers == {}
    assert gather([*one, broker("d:1", 5, several=True)]).brokers == {}


def test_losses_are_in_order() -> None:
    facts = gather([said("loss", 0, 1, at) for at in (9, 2, 5)])
    assert [place.at for place in facts.losses] == [2, 5, 9]


def test_names_of_all_flows_have_a_bound_and_what_is_beyond_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [said("topic", 0, 0, 0, id=f"{number:032x}", name="t") for number in range(3)]
    assert gather(rows).faults == []
    monkeypatch.setattr(Memory.__init__, "__defaults__", (2, BYTES))
    facts = gather(rows)
    assert [topic.int for topic in facts.topics] == [1, 2]
    (fault,) = facts.faults
    assert (fault["kind"], fault["reason"].split()[0]) == ("forgotten", "1")


def test_what_shares_left_out_is_added_up() -> None:
    def unread(count: int, *reasons: str) -> Outcome:
        out = [[22, "unknown", count], [9093, "TLS", 1]]
        return said("unread", 0, 0, 0, left_out=out, without_keys=reasons, read_in_part=["cut"])

    faults = gather([unread(1, "no keys"), unread(2, "SSL 3.0")]).faults
    assert [(fault["kind"], fault["reason"]) for fault in faults] == [
        ("left out", "3 conversations on port 22: unknown"),
        ("left out", "2 conversations on port 9093: TLS (SSL 3.0, no keys)"),
        ("TLS", "read in part: cut"),
    ]


TOPIC = uuid.UUID(int=7)
FACTS = Facts(
    connections={(0, 5): 2, (1, 5): 9},
    losses=[Position(8, 0, 1), Position(8, 0, 3)],
    topics={TOPIC: "orders"},
    producers={77: "tx"},
    brokers={"b:1": 4, "b:2": None},
)
COLUMNS = tuple(column.name for column in ALL)


def completed(*rows: dict[str, Any], facts: Facts = FACTS) -> list[dict[str, Any]]:
    head = {"section": 0, "connection_key": 5, "at": 1, "flow": 0, "within": 0}
    heads = [{**head, **row} for row in rows]
    found = batch(heads, (*HEAD, *travelling(COLUMNS)))
    made: list[dict[str, Any]] = Completion(facts, "c").complete(found, EXCHANGES).to_pylist()
    return made


def test_the_number_of_a_connection_and_the_capture() -> None:
    one, other = completed({"section": 0}, {"section": 1})
    assert (one["capture"], one["connection"], other["connection"]) == ("c", 2, 9)


def test_ids_of_topics_get_their_names_and_order() -> None:
    topics: list[Any] = [None, [], ["a", uuid_text(TOPIC), "zoo"], ["orders", uuid_text(TOPIC)]]
    found = completed(*({"topics": one} for one in topics))
    assert [row["topics"] for row in found] == [None, [], ["a", "orders", "zoo"], ["orders"]]


def test_partitions_keep_all_else() -> None:
    partition = {"topic": uuid_text(TOPIC), "partition": 3, "offset": 8}
    lists: list[Any] = [None, [], [{**partition, "topic": "x"}, partition]]
    nothing, empty, found = (
        row["partitions"] for row in completed(*({"partitions": one} for one in lists))
    )
    assert (nothing, empty) == (None, [])
    told = [(one["topic"], one["partition"], one["offset"]) for one in found]
    assert told == [("x", 3, 8), ("orders", 3, 8)]


def test_places_that_checks_see_get_names_too() -> None:
    place = {"topic": uuid_text(TOPIC), "partition": 3, "checksum": 8}
    seen: list[Any] = [None, {"acks": 1}, {"places": [place, {**place, "topic": "x"}]}]
    found = [row["seen"] for row in completed(*({"seen": one} for one in seen))]
    assert found[0] is None
    assert (found[1]["acks"], found[1]["places"]) == (1, None)
    assert [one["topic"] for one in found[2]["places"]] == ["orders", "x"]
    assert [one["checksum"] for one in found[2]["places"]] == [8, 8]


def test_brokers_by_address_unless_the_capture_names_them() -> None:
    rows: list[dict[str, Any]] = [{"server_address": f"b:{port}"} for port in (1, 2, 1, 3)]
    rows[2]["named_broker"] = 1
    assert [row["broker"] for row in completed(*rows)] == [4, None, 1, None]


def test_transactions_by_their_producers() -> None:
    rows: list[dict[str, Any]] = [{"producer_id": number} for number in (77, 78, 77)]
    rows[2]["transactional_id"] = "t"
    assert [row["transactional_id"] for row in completed(*rows)] == ["tx", None, "t"]


def test_losses_before_an_exchange() -> None:
    places = [{"at": 7}, {"at": 8, "within": 1}, {"at": 8, "within": 2}, {"at": 9}]
    assert [row["losses"] for row in completed(*places)] == [0, 0, 1, 2]
    assert completed({}, facts=Facts(connections={(0, 5): 1}))[0]["losses"] == 0
