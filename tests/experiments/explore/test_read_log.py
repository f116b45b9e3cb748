from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from barnabas.experiments.explore.log import LoggedRecord
from barnabas.experiments.explore.read_log import LogError, ends, id_of, read_log
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.embedded import EmbeddedCluster


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    with EmbeddedCluster(2, topics={"orders": 2, "empty": 1}) as cluster:
        producer = Producer({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
        for number in range(4):
            producer.produce(
                "orders",
                f"v{number}",
                f"k{number}",
                number // 3,
                headers={"id": f"h{number}", "other": b"\xff"},
            )
        assert producer.flush(10) == 0
        yield cluster.bootstrap


def test_where_partitions_end(bootstrap: str) -> None:
    assert ends(bootstrap) == {("orders", 0): 3, ("orders", 1): 1, ("empty", 0): 0}


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("value", ["v0", "v1", "v2", "v3"]),
        ("key", ["k0", "k1", "k2", "k3"]),
        ("header:id", ["h0", "h1", "h2", "h3"]),
        ("header:other", ["\\xff"] * 4),
        ("header:none", [""] * 4),
    ],
)
def test_records_and_their_ids(where: str, ids: list[str], bootstrap: str) -> None:
    log = read_log(bootstrap, ["orders", "empty", "missing"], {}, id_of(where))
    places = [("orders", 0, 0), ("orders", 0, 1), ("orders", 0, 2), ("orders", 1, 0)]
    assert list(log.records) == [
        LoggedRecord(*place, name) for place, name in zip(places, ids, strict=True)
    ]


def test_what_was_there_before_is_left_out(bootstrap: str) -> None:
    log = read_log(bootstrap, ["orders"], {("orders", 0): 2, ("orders", 1): 1}, id_of("value"))
    assert [record.id for record in log.records] == ["v2"]
    assert log.covers("orders", 0, 2)
    assert not log.covers("orders", 0, 1)


def test_a_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("barnabas.experiments.explore.read_log.PATIENCE", 0.5)
    with pytest.raises(LogError, match=r"127\.0\.0\.1:1 can't be read"):
        ends("127.0.0.1:1")
    with pytest.raises(LogError, match=r"127\.0\.0\.1:1 can't be read"):
        read_log("127.0.0.1:1", ["orders"], {}, id_of("value"))


@pytest.mark.needs_apache("4.3.1")
def test_what_became_of_transactions(kafka: ApacheCluster) -> None:
    common = {"bootstrap.servers": kafka.bootstrap, "log_level": 0}
    producer = Producer({**common, "transactional.id": "transacted"})
    plain = Producer(common)
    producer.init_transactions(20)
    for name in ("committed", "aborted", "open"):
        producer.begin_transaction()
        producer.produce("transacted", name, partition=0)
        assert producer.flush(20) == 0
        if name == "committed":
            producer.commit_transaction(20)
        elif name == "aborted":
            producer.abort_transaction(20)
    plain.produce("transacted", "behind", partition=0)
    assert plain.flush(20) == 0
    log = read_log(kafka.bootstrap, ["transacted"], {}, id_of("value"), settle=0.2)
    assert [(record.id, record.visible) for record in log.records] == [
        ("committed", True),
        ("aborted", False),
        ("open", None),
        ("behind", None),
    ]
    producer.abort_transaction(20)
    log = read_log(kafka.bootstrap, ["transacted"], {}, id_of("value"))
    assert [record.visible for record in log.records] == [True, False, False, True]
