"""Scenarios in which transactions end as they are meant to, each once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import pytest
from confluent_kafka import KafkaException

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.expectations import asks_for_its_id_again, errors, of_api
from tests.experiments.scenarios.kafka import JAVA, fired, made_topic, numbers, read_log, through
from tests.experiments.scenarios.transactions import ended, transact, transactional
from tests.waiting import until

pytestmark = pytest.mark.needs_apache("4.3.1")


def every_second_end_is_lost(proxy: Harness) -> None:
    """Those that were sent again among them."""
    ends = [one for one in proxy.exchanges if one.api == "EndTxn"]
    lost = fired(proxy, "the reply to EndTxn is lost")
    assert lost == ends[::2]
    assert len(lost) >= 3
    assert errors(proxy, "EndTxn") <= {"", "CONCURRENT_TRANSACTIONS"}


def the_coordinator_moved(proxy: Harness) -> None:
    """Once, and it took two questions for the new one and two for what it knows."""
    found = {
        rule.name: [(one.api, one.error) for one in fired(proxy, rule.name)]
        for rule in proxy.rules.rules
    }
    assert found == {
        "the coordinator moved in mid-commit": [("EndTxn", "NOT_COORDINATOR")],
        "there is no coordinator yet": [("FindCoordinator", "COORDINATOR_NOT_AVAILABLE")] * 2,
        "the new coordinator reads its log": [("EndTxn", "COORDINATOR_LOAD_IN_PROGRESS")] * 2,
    }


def one_produce_is_refused(proxy: Harness, ends: list[bool]) -> None:
    """Once, and it was not sent again."""
    (produce,) = fired(proxy, "the leader knows a newer epoch")
    assert (produce.api, produce.error) == ("Produce", "INVALID_PRODUCER_EPOCH")
    assert len(of_api(proxy, "Produce")) == 3
    assert ended(proxy) == ends


def records_come_late(proxy: Harness) -> None:
    """Those of a transaction that was aborted meanwhile are refused."""
    (rule,) = proxy.rules.rules
    assert (rule.fired, rule.released, rule.expired) == (1, 1, 0)
    (late,) = fired(proxy, rule.name)
    assert (late.api, late.error) == ("Produce", "INVALID_PRODUCER_EPOCH")
    assert ended(proxy) == [True, False, True]


def end_comes_late(proxy: Harness, error: str = "PRODUCER_FENCED") -> None:
    """It left behind the next transaction's first record, when it had been sent again."""
    (rule,) = proxy.rules.rules
    assert (rule.fired, rule.released, rule.expired) == (1, 1, 0)
    (late,) = fired(proxy, "a commit comes in the next transaction")
    ends = of_api(proxy, "EndTxn")
    again = ends[ends.index(late) + 1]
    assert (again.request, again.error) == (late.request, "")
    assert again.connection != late.connection
    # where the coordinator is still writing the markers of the one before, it says so
    assert late.error in (error, "CONCURRENT_TRANSACTIONS" if error else "")
    newest = max(one.version for one in ends)
    assert newest == 5 if error else newest < 5


def the_last_one_is_not_complete(proxy: Harness) -> None:
    """So the next one is refused for a while, here and there."""
    init = fired(proxy, "the last transaction is not complete")
    produce = fired(proxy, "a leader hears so from the coordinator")
    assert {one.error for one in (*init, *produce)} == {"CONCURRENT_TRANSACTIONS"}
    assert len(init) == 2
    assert len(produce) >= 2


class Row(NamedTuple):
    """ends: `commit`, `abort`, or `refused`: what is sent is not stored, and told is what is told of it."""

    scenario: str
    client: str
    ends: str
    check: Callable[[Harness], object]
    told: str = ""
    own: Mapping[str, str] = {}
    size: int = 3


IMPATIENT = {"request.timeout.ms": "3000", "delivery.timeout.ms": "3000", "linger.ms": "0"}
ROWS = [
    Row("lost-end-txn-reply", "librdkafka", "commit abort commit", every_second_end_is_lost),
    Row("transaction-coordinator-moves", "java", "commit commit commit", the_coordinator_moved),
    Row("concurrent-transactions", "java", "commit commit commit", the_last_one_is_not_complete),
    # a new producer has to go on
    Row(
        *("invalid-producer-epoch", "librdkafka", "commit refused commit"),
        partial(one_produce_is_refused, ends=[True, True]),
        "_FENCED",
    ),
    Row(
        *("invalid-producer-epoch", "java", "commit refused commit"),
        partial(one_produce_is_refused, ends=[True, False, True]),
        "InvalidProducerEpochException",
    ),
    Row(
        *("late-end-txn", "java", "commit commit abort commit", end_comes_late),
        own={"request.timeout.ms": "1000"},
    ),
    # of more records, a producer that does not wait may make two requests
    Row(
        *("late-produce", "java", "commit refused commit", records_come_late),
        *("TransactionAbortableException", IMPATIENT, 1),
    ),
    Row("producer-id-late", "librdkafka", "commit", asks_for_its_id_again),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.scenario}-{row.client}")
def test_what_is_committed_is_there_and_nothing_else(
    row: Row, cluster: ApacheCluster, request: pytest.FixtureRequest
) -> None:
    topic = made_topic(cluster.bootstrap, f"{row.scenario}-{row.client}-ends")
    ends = row.ends.split()
    batches = [(numbers(row.size, row.size * at), end) for at, end in enumerate(ends)]
    with through(row.scenario, cluster.bootstrap) as proxy:
        if row.client == "java":
            settings = {"bootstrap.servers": proxy.bootstrap, "transactional.id": topic}
            told = request.getfixturevalue("java").transact(
                topic,
                [(values, "abort" if end == "abort" else "commit") for values, end in batches],
                settings={**JAVA, **row.own, **settings},
            )
            assert told == [[row.told] if end == "refused" else [] for end in ends]
        else:
            producer = transactional(proxy.bootstrap, topic)
            for values, end in batches:
                if end != "refused":
                    transact(producer, topic, values, commit=end == "commit")
                    continue
                with pytest.raises(KafkaException, match=row.told) as raised:
                    transact(producer, topic, values)
                assert raised.value.args[0].fatal()
                producer = transactional(proxy.bootstrap, topic)
    row.check(proxy)
    committed = [one for values, end in batches if end == "commit" for one in values]
    stored = [one for values, end in batches if end != "refused" for one in values]
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: committed}
    assert read_log(cluster.bootstrap, topic) == {0: stored}


def test_before_there_was_an_epoch_for_each_a_late_end_ends_the_one_under_way(
    cluster: ApacheCluster,
) -> None:
    topic = made_topic(cluster.bootstrap, "late-end-of-an-older-version")
    values = numbers(9)
    impatient = {"socket.timeout.ms": 1000, "transaction.timeout.ms": 30_000}
    with through("late-end-txn", cluster.bootstrap) as proxy:
        producer = transactional(proxy.bootstrap, topic, **impatient)
        transact(producer, topic, values[:3])
        transact(producer, topic, values[3:6])
        producer.begin_transaction()
        for value in values[6:]:
            producer.produce(topic, value, partition=0)
        producer.flush()
        until(
            lambda: read_log(cluster.bootstrap, topic, committed=True) == {0: values},
            "what was not committed is",
        )
        with pytest.raises(KafkaException, match="INVALID_TXN_STATE"):
            producer.abort_transaction()
    end_comes_late(proxy, error="")
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: values}
