from __future__ import annotations

import pytest

from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import JAVA, fired, made_topic, numbers, read_log, through

pytestmark = pytest.mark.needs_apache("4.3.1")

# a record each: of more, a producer that does not wait may make two requests
FIRST, LATE, LAST = numbers(1), numbers(1, 1), numbers(1, 2)
IMPATIENT = {"request.timeout.ms": "3000", "delivery.timeout.ms": "3000", "linger.ms": "0"}


def test_records_of_an_aborted_transaction_are_refused(
    cluster: ApacheCluster, java: JavaClient
) -> None:
    topic = made_topic(cluster.bootstrap, "late-produce")
    with through("late-produce", cluster.bootstrap) as proxy:
        settings = {"bootstrap.servers": proxy.bootstrap, "transactional.id": topic}
        told = java.transact(
            topic,
            [(FIRST, "commit"), (LATE, "commit"), (LAST, "commit")],
            settings={**JAVA, **IMPATIENT, **settings},
        )
        (rule,) = proxy.rules.rules
    assert told == [[], ["TransactionAbortableException"], []]
    assert (rule.fired, rule.released, rule.expired) == (1, 1, 0)
    (late,) = fired(proxy, rule.name)
    assert (late.api, late.error) == ("Produce", "INVALID_PRODUCER_EPOCH")
    ended = [one for one in proxy.exchanges if one.api == "EndTxn" and one.request is not None]
    assert [one.request["committed"] for one in ended if one.request] == [True, False, True]
    assert read_log(cluster.bootstrap, topic) == {0: FIRST + LAST}
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: FIRST + LAST}
