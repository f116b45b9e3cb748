from __future__ import annotations

from itertools import count
from types import SimpleNamespace

import pytest
from confluent_kafka import Consumer, TopicPartition

from barnabas.experiments.clients.uncommitted import uncommitted
from barnabas.experiments.explore.history import History, OffsetCommitted
from barnabas.peers.embedded import EmbeddedCluster


def committed(offset: int) -> OffsetCommitted:
    return OffsetCommitted(group="g", topic="t", partition=0, offset=offset)


@pytest.mark.slow("a cluster of its own")
def test_offsets_that_brokers_do_not_have_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddedCluster(1, topics={"t": 1}) as cluster:
        own = {"bootstrap.servers": cluster.bootstrap}
        consumer = Consumer({**own, "group.id": "g"})
        consumer.commit(offsets=[TopicPartition("t", 0, 5)], asynchronous=False)
        consumer.close()
        assert uncommitted(History([committed(5)]), own) == []
        hours = count(0, 3600)  # pass from one look at the clock to the next
        clock = SimpleNamespace(monotonic=lambda: float(next(hours)))
        monkeypatch.setattr("barnabas.experiments.clients.uncommitted.time", clock)
        (found,) = uncommitted(History([committed(6), committed(5)]), own, soon=60)
    assert found.text == "g: offset 6 of t[0] was committed, brokers have 5"


def test_who_does_not_answer_is_told() -> None:
    own = {"bootstrap.servers": "127.0.0.1:1"}
    with pytest.raises(OSError, match="do not tell a group's offsets"):
        uncommitted(History([committed(5)]), own, soon=1.0)
