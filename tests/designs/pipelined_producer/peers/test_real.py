"""The producer and real brokers from 0.8.2.2 to 4.3.1, seen through the proxy."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from barnabas.designs.leaders import Address
from barnabas.designs.pipelined_producer.peers import (
    BLOCKING_0_8,
    Outcome,
    PipelinedProducer,
    Settings,
)
from barnabas.designs.protocol_guide.client_0_8 import Client
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from tests.waiting import SOON

VERSIONS = {
    "0.8.2.2": 0,
    "0.9.0.1": 0,
    "0.10.2.1": 2,
    "0.11.0.1": 3,
    "2.8.0": 9,
    "3.9.1": 11,
    "4.3.1": 12,
}
"""Kafka, and the Produce that it is sent: 0.8 and 0.9 can't say what they know."""

TOPIC = "orders"
COUNT = 300


def stored(address: Address, bootstrap: str, version: str, partitions: int) -> list[list[bytes]]:
    """The values of each partition, in order."""
    if version.startswith("4."):
        from tests.experiments.scenarios.kafka import read_log

        return list(read_log(bootstrap, TOPIC).values())
    found: list[list[bytes]] = []
    with Client([address]) as client:
        for number in range(partitions):
            place = TOPIC, number
            values: list[bytes] = []
            end = client.offsets({place: -1})[place].offsets[0]
            while len(values) < end:
                got = client.fetch({place: len(values)})[place]
                assert got.messages
                values += (message.value or b"" for _, message in got.messages)
            found.append(values)
    return found


@pytest.mark.needs_apache(*VERSIONS)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_is_spoken_to_in_its_own(version: str) -> None:
    told: list[Outcome] = []
    with (
        ApacheCluster(version, settings={"num.partitions": "3"}) as cluster,
        Harness(cluster.bootstrap) as proxy,
    ):
        pipelined = Settings(batch_messages=10, acks=-1, compression="gzip")
        # a leader that does not know yet that it is one refuses: what is sent again comes behind others
        with PipelinedProducer([cluster.brokers[1]], replace(pipelined, retries=100)) as first:
            for number in range(3):
                first.send(TOPIC, b"%d" % (number - 3), partition=number, told=told.append)
            assert first.flush(SOON) == 0
        blocking = replace(BLOCKING_0_8, produce_version=VERSIONS[version], batch_messages=10)
        for begin, settings in ((0, pipelined), (COUNT, blocking)):
            with PipelinedProducer([proxy.proxy.address], settings) as producer:
                for number in range(begin, begin + COUNT):
                    key = b"k%d" % (number % 11)
                    producer.send(TOPIC, b"%d" % number, key=key, told=told.append, wait=30)
                assert producer.flush(SOON) == 0
        assert Counter(one.problem for one in told) == {None: 2 * COUNT + 3}
        logs = stored(cluster.brokers[1], cluster.bootstrap, version, 3)
    assert sorted(int(value) for log in logs for value in log) == list(range(-3, 2 * COUNT))
    for log in logs:
        assert log == sorted(log, key=int)
    produced = [one for one in proxy.exchanges if one.api == "Produce"]
    assert {one.version for one in produced} == {VERSIONS[version]}
    assert {one.error for one in produced} <= {None, "NONE", ""}
