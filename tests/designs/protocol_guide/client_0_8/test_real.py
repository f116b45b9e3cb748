"""The client and real brokers: 0.8.2.2, newer ones that take v0, and 4.3.1, which takes only Metadata."""

from __future__ import annotations

import time

import pytest

from barnabas.designs.leaders import TopicPartition
from barnabas.designs.protocol_guide.client_0_8 import (
    LATEST,
    Client,
    Message,
    Produced,
    Unreachable,
    requests,
)
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.specs.keys import API_VERSIONS, FETCH, LIST_OFFSETS, METADATA, PRODUCE
from tests.waiting import SOON

FEW = [Message(b"k", b"%d" % number) for number in range(5)]
UNSUPPORTED = "Received request for api with key {}"
"""What 4.3.1's log says of a request in a version that it does not take."""


def values(
    client: Client, place: TopicPartition, begin: int = 0, end: int = 0
) -> list[bytes | None]:
    """What one Fetch gives, or all up to an offset: brokers may give less than there is."""
    read: list[bytes | None] = []
    while not read or begin + len(read) < end:
        found = client.fetch({place: begin + len(read)}, max_wait_ms=2000)[place]
        assert found.error == 0
        assert found.messages
        read += [message.value for _, message in found.messages]
    return read


@pytest.mark.needs_apache("0.8.2.2")
@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4"])
def test_compressed_sets_are_read_from_the_middle(
    kafka_0_8: ApacheCluster, compression: str
) -> None:
    place = f"packed-{compression}", 0
    with Client(kafka_0_8.brokers.values()) as client:
        assert client.produce({place: FEW}, acks=-1, compression=compression)[place].error == 0
        assert values(client, place, 3) == [b"3", b"4"]


@pytest.mark.needs_apache("0.8.2.2")
def test_the_next_leader_is_found(kafka_0_8: ApacheCluster) -> None:
    place = "moved", 0
    with Client(kafka_0_8.brokers.values(), patience=SOON) as client:
        client.produce({place: FEW}, acks=-1)
        leader = client.cluster.leaders[place]
        kafka_0_8.kill(leader)
        try:
            assert client.produce({place: [Message(None, b"after")]})[place].error == 0
            assert client.cluster.leaders[place] != leader
            assert values(client, place)[-1] == b"after"
        finally:
            kafka_0_8.start(leader)


@pytest.mark.needs_apache("0.8.2.2")
def test_through_the_proxy(kafka_0_8: ApacheCluster) -> None:
    place = "proxied", 0
    with Harness(kafka_0_8.bootstrap) as proxy, Client([proxy.proxy.address]) as client:
        assert client.produce({place: FEW}, acks=-1)[place].error == 0
        client.produce({place: FEW}, acks=0)
        # nobody has said that they are there: the high watermark waits for the other replica
        assert len(values(client, place, 0, 10)) == 10
        assert client.offsets({place: LATEST})[place].offsets == (10,)
        # the leader that it found is the proxy too
        assert not set(client.cluster.brokers.values()) & set(kafka_0_8.brokers.values())
    seen = {(exchange.api, exchange.version) for exchange in proxy.exchanges}
    assert seen == {("Produce", 0), ("Fetch", 0), ("ListOffsets", 0), ("Metadata", 0)}


@pytest.mark.needs_apache("0.9.0.1", "0.11.0.1", "3.9.1")
@pytest.mark.parametrize("version", ["0.9.0.1", "0.11.0.1", "3.9.1"])
def test_newer_brokers_take_it_also_through_the_proxy(version: str) -> None:
    with ApacheCluster(version) as cluster, Harness(cluster.bootstrap) as proxy:
        for topic, addresses in (
            ("direct", [*cluster.brokers.values()]),
            ("proxied", [proxy.proxy.address]),
        ):
            place = topic, 0
            with Client(addresses, patience=SOON) as client:
                assert client.produce({place: FEW}, acks=-1, compression="gzip")[place].error == 0
                assert client.produce({place: FEW}, acks=0) == {}
                assert client.produce({place: FEW}, acks=1) == {place: Produced(0, 10)}
                # since 0.9 an acks of 2 is none: INVALID_REQUIRED_ACKS
                assert client.produce({place: FEW}, acks=2)[place].error == 21
                assert values(client, place, 0, 15) == [message.value for message in FEW] * 3
                assert client.offsets({place: LATEST})[place].offsets == (15,)
                assert client.fetch({place: 99})[place].error == 1
                led_by_the_proxy = not set(client.cluster.brokers.values()) & set(
                    cluster.brokers.values()
                )
                assert led_by_the_proxy is (topic == "proxied")


REFUSED = (
    (PRODUCE, requests.produce({("guided", 0): FEW}, 1, 1000, "none")),
    (PRODUCE, requests.produce({("guided", 0): FEW}, 0, 1000, "none")),
    (FETCH, requests.fetch({("guided", 0): 0}, max_wait_ms=100, min_bytes=1, max_bytes=1 << 20)),
    (LIST_OFFSETS, requests.offsets({("guided", 0): LATEST}, 1)),
)


@pytest.mark.needs_apache("4.3.1")
def test_4_3_1_answers_metadata_and_hangs_up_on_all_else_also_through_the_proxy(
    kafka: ApacheCluster,
) -> None:
    """KIP-896: Fetch v0 and ListOffsets v0 are gone. ApiVersions offers Produce from v0, for librdkafka's
    sake only: it is refused as the others are, whatever its acks, and the log says so."""
    with Harness(kafka.bootstrap) as proxy:
        log = kafka.nodes[1].log
        for address in (*kafka.brokers.values(), proxy.proxy.address):
            with Client([address]) as client:
                until = time.monotonic() + SOON
                while ("guided", 0) not in client.refresh(["guided"]).leaders:  # it makes the topic
                    assert time.monotonic() < until, client.cluster
                    time.sleep(0.1)
                assert client.cluster.brokers == {1: address} or address == proxy.proxy.address
                assert client.refresh(["no topic's name"]).errors == {"no topic's name": 17}
                offered = {
                    one["api_key"]: one["min_version"]
                    for one in client.ask(address, API_VERSIONS, {})["api_keys"]
                }
                asked = {key: offered[key] for key in (PRODUCE, FETCH, LIST_OFFSETS, METADATA)}
                assert asked == {PRODUCE: 0, FETCH: 4, LIST_OFFSETS: 1, METADATA: 0}
                for key, body in REFUSED:
                    before = log.read_text().count(UNSUPPORTED.format(key))
                    with pytest.raises(ConnectionError, match="the broker closed the connection"):
                        client.ask(address, key, body)
                    assert log.read_text().count(UNSUPPORTED.format(key)) > before
            # the client makes the connection anew, until its patience is over, and says why
            with (
                Client([address], patience=0) as client,
                pytest.raises(Unreachable, match="the broker closed the connection"),
            ):
                client.produce({("guided", 0): FEW})
