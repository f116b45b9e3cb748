"""What checks see of bodies."""

from __future__ import annotations

from typing import Any

from barnabas.captures.checks.facts import GROUP, PLACES, REQUEST_HASH, RESPONDED, WHOLE, Place
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.jsonform import uuid_text
from tests.captures.checks.given import produce
from tests.captures.checks.groups import commit, join, sync
from tests.captures.checks.test_partitions import TOPIC, fetch


def place(exchange: Exchange) -> Place:
    (one,) = PLACES.of(exchange) or ()
    return one


def test_a_fetch_names_the_whole_what_was_asked_and_what_else_came() -> None:
    context = Context()
    context.topics[TOPIC] = "orders"
    found = PLACES.of(fetch(13, (0, 3), (3, 5)), context) or ()
    assert [(one.text, one.error, one.asked) for one in found] == [
        ("all partitions", 0, False),
        ("orders[0]", None, True),
        ("orders[3]", 6, True),
        ("orders[5]", 6, False),
    ]


def test_a_topic_without_a_name_is_the_text_of_its_id() -> None:
    (whole, one) = PLACES.of(fetch(13, (0,), (0,))) or ()
    assert (whole.partition, one.topic) == (WHOLE, uuid_text(TOPIC))


def test_a_produce_has_figures_of_its_batch_and_no_records() -> None:
    one = place(produce(0, ["a", "b"], sequence=4, producer=7, epoch=1, offset=9))
    assert one.checksum is not None
    batch: dict[str, Any] = {
        "producer_id": 7,
        "producer_epoch": 1,
        "base_sequence": 4,
        "last_sequence": 5,
    }
    assert one._replace(checksum=None) == Place("orders", 0, error=0, offset=9, **batch)
    plain = place(produce(0, ["a"]))
    assert (plain.producer_id, plain.last_sequence) == (None, None)
    assert place(produce(0, ["a"], offset=-1)).offset is None


def test_a_commit_has_its_offset_and_what_became_of_it() -> None:
    assert place(commit(0, offset=4, error=22)) == Place("orders", 0, True, 22, 4)


def test_a_leader_is_taken_from_errors_only() -> None:
    hint = {"current_leader": {"leader_id": 2, "leader_epoch": 8}}
    hinted, other = (produce(0, ["a"], version=10, error=error, answer=hint) for error in (6, 0))
    assert (place(hinted).leader, place(hinted).leader_epoch) == (2, 8)
    assert (place(other).leader, place(other).leader_epoch) == (None, None)


def test_requests_that_failed_for_the_moment_are_told_apart_by_their_hash() -> None:
    one, same, other = (produce(0, [text], error=7) for text in "aab")
    assert REQUEST_HASH.of(one) == REQUEST_HASH.of(same) != REQUEST_HASH.of(other)
    assert REQUEST_HASH.of(produce(0, ["a"])) is None
    hashes = [REQUEST_HASH.of(produce(0, [text], error=7)) or 0 for text in "abcdefgh"]
    assert all(-(1 << 63) <= one < 1 << 63 for one in hashes), "a column of tables holds them"


def test_of_a_group_some_fields_are_kept() -> None:
    assert PLACES.of(join(0)) is None
    said = GROUP.of(join(0, "a", 2, members=("a", "b"), leader="a"))
    assert said is not None
    assert said.response is not None
    assert said.response["members"] == [{"member_id": "a"}, {"member_id": "b"}]
    synced = GROUP.of(sync(0))
    assert synced is not None
    assert synced.request is not None
    assert synced.request["assigns"] is False
    assert GROUP.of(produce(0, ["a"])) is None


def test_it_is_read_once() -> None:
    one = produce(0, ["a"])
    before = PLACES.of(one)
    one.request_body = one.response_body = None
    assert PLACES.of(one) is before
    assert RESPONDED.of(one)
