from __future__ import annotations

from typing import Any

import pytest

from barnabas.designs.pipelined_producer.peers.event import Event
from barnabas.designs.pipelined_producer.peers.intake import Intake, QueueFull, TooLarge
from barnabas.designs.pipelined_producer.peers.serializing import PLAIN
from barnabas.designs.pipelined_producer.peers.settings import Settings


def event(key: Any = None, topic: str = "t") -> Event:
    return Event(topic, key, b"v", 0.0)


def test_all_that_is_in_the_producer_s_hands_is_bounded() -> None:
    intake = Intake(Settings(outstanding=3))
    for topic in "abc":
        intake.put(event(topic=topic))
    with pytest.raises(QueueFull, match="3 messages are in the producer's hands"):
        intake.put(event(topic="d"))
    intake.take([("a", 0)], 1, 0.0)  # in flight is in its hands, too
    with pytest.raises(QueueFull):
        intake.put(event(topic="d"))
    intake.over(1)
    intake.put(event(topic="d"))


@pytest.mark.parametrize("topic", ["", "x" * 250])
def test_a_topic_that_can_t_be_is_refused(topic: str) -> None:
    with pytest.raises(ValueError, match="1 to 249 bytes"):
        Intake(Settings()).put(event(topic=topic))


def test_a_partitioner_that_fails_is_told_where_it_was_asked() -> None:
    def partitioner(key: Any, count: int) -> int:
        return int(key) if count > 1 else 0

    intake = Intake(Settings(), partitioner)
    for key in ("1", "x", "7", "0"):
        intake.put(event(key))
    failed = intake.known({"t": 2})
    assert [one.event.key for one in failed] == ["x", "7"]
    assert "gives 7 of 2 partitions" in str(failed[1].problem)
    assert sorted(intake.waiting()) == [("t", 0), ("t", 1)]
    with pytest.raises(ValueError, match="invalid literal"):
        intake.put(event("y"))  # now the client's thread asks
    assert intake.outstanding == 4


@pytest.mark.parametrize("partition", [-2, 1 << 31])
def test_a_partition_that_can_t_be_is_refused(partition: int) -> None:
    one = event()
    one.partition = partition
    with pytest.raises(ValueError, match=rf"partition {partition}: 0 or more, or -1 for any"):
        Intake(Settings()).put(one)


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        (Settings(batch_bytes=200), 200 - 61),
        (Settings(request_bytes=200, client_id="me"), 200 - 32 - 2 - 18 - 1 - 61),
    ],
)
def test_what_is_too_large_is_refused_at_once(limits: Settings, most: int) -> None:
    intake = Intake(limits)
    fits = most - 34
    intake.put(Event("t", b"k", b"v" * (fits - 1), 0.0))
    for key, value in ((b"k", b"v" * fits), ("ä", "v" * (fits - 1)), (None, "ä" * fits)):
        with pytest.raises(TooLarge, match=f"a record of .* bytes, .*: at most {most} fit"):
            intake.put(Event("t", key, value, 0.0))
    assert (len(intake.queues), intake.outstanding) == (1, 1)


def test_what_is_serialised_already_is_as_large_as_its_bytes() -> None:
    intake = Intake(Settings(batch_bytes=200), serializers=PLAIN._replace(value=lambda _: b""))
    fits, large = (Event("t", None, None, 0.0, serialized=(b"k", b"v" * n)) for n in (104, 105))
    intake.put(fits)
    assert fits.size == 34 + 1 + 104
    with pytest.raises(TooLarge, match=r"a record of 140 bytes, .*: at most 139 fit"):
        intake.put(large)
