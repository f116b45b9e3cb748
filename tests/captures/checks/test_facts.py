"""What checks see of bodies."""

from __future__ import annotations

from barnabas.captures.checks.facts import (
    GROUP,
    PLACES,
    REQUEST_HASH,
    RESPONDED,
    WHOLE,
    Place,
)
from barnabas.captures.kafka.context import Context
from barnabas.specs.jsonform import uuid_text
from tests.captures.checks.given import produce
from tests.captures.checks.groups import join, sync
from tests.captures.checks.test_partitions import TOPIC, fetch


def places(exchange: object, context: Context | None = None) -> list[tuple[str, int | None, bool]]:
    found = PLACES.of(exchange, context)  # type: ignore[arg-type]
    return [(one.text, one.error, one.asked) for one in found or ()]


def test_a_fetch_names_the_whole_what_was_asked_and_what_else_came() -> None:
    context = Context()
    context.topics[TOPIC] = "orders"
    assert places(fetch(13, (0, 3), (3, 5)), context) == [
        ("all partitions", 0, False),
        ("orders[0]", None, True),
        ("orders[3]", 6, True),
        ("orders[5]", 6, False),
    ]


def test_a_topic_without_a_name_is_the_text_of_its_id() -> None:
    (whole, one) = PLACES.of(fetch(13, (0,), (0,))) or ()
    assert (whole.partition, one.topic) == (WHOLE, uuid_text(TOPIC))


def test_a_replica_is_no_consumer() -> None:
    follower = fetch(12, (0,), (0,))
    assert follower.request is not None
    follower._request = {**follower.request, "replica_id": 2}
    assert PLACES.of(follower) is None


def test_a_produce_has_figures_of_its_batch_and_no_records() -> None:
    (one,) = PLACES.of(produce(0, ["a", "b"], sequence=4, producer=7, epoch=1, offset=9)) or ()
    assert one.checksum is not None
    assert one._replace(checksum=None) == Place(
        *("orders", 0),
        error=0,
        offset=9,
        producer_id=7,
        producer_epoch=1,
        base_sequence=4,
        last_sequence=5,
    )
    (plain,) = PLACES.of(produce(0, ["a"])) or ()
    assert (plain.producer_id, plain.last_sequence) == (None, None)


def test_requests_that_failed_for_the_moment_are_told_apart_by_their_hash() -> None:
    one, same, other = (produce(0, [text], error=7) for text in "aab")
    assert REQUEST_HASH.of(one) == REQUEST_HASH.of(same) != REQUEST_HASH.of(other)
    assert REQUEST_HASH.of(produce(0, ["a"])) is None


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
