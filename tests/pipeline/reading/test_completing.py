"""What only all flows together say is put into exchanges: numbers, names, brokers, losses."""

from __future__ import annotations

import uuid
from typing import Any

from barnabas.pipeline.reading.completing import Completion
from barnabas.pipeline.reading.facts import Facts
from barnabas.pipeline.reading.outcomes import ALL, HEAD, Place, travelling
from barnabas.pipeline.rows.columns import EXCHANGES
from barnabas.pipeline.rows.exchanges import batch
from barnabas.specs.jsonform import uuid_text

TOPIC = uuid.UUID(int=7)
FACTS = Facts(
    connections={(0, 5): 2, (1, 5): 9},
    losses=[Place(8, 0, 1), Place(8, 0, 3)],
    topics={TOPIC: "orders"},
    producers={77: "tx"},
    brokers={"b:1": 4, "b:2": None},
)
COLUMNS = tuple(column.name for column in ALL)


def completed(*rows: dict[str, Any], facts: Facts = FACTS) -> list[dict[str, Any]]:
    heads = [{"section_group": 0, "of": 5, "at": 1, "flow": 0, "within": 0, **row} for row in rows]
    found = batch(heads, (*HEAD, *travelling(COLUMNS)))
    made: list[dict[str, Any]] = Completion(facts, "c").complete(found, EXCHANGES).to_pylist()
    return made


def test_the_number_of_a_connection_and_the_capture() -> None:
    one, other = completed({"section_group": 0}, {"section_group": 1})
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
