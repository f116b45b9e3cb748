"""A broker of each design with logs, over sockets: clients of 0.8 produce to it and fetch from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from barnabas.captures.host_port import endpoint_text
from barnabas.designs.brokers.listener import Address
from barnabas.designs.brokers.processes.designs import DESIGNS
from barnabas.designs.protocol_guide.client_0_8 import LATEST, Client, Message
from tests.designs.brokers.logs.broker import with_broker
from tests.waiting import SOON

VALUES = [b"a", b"b", b"c"]


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("codec", ["none", "gzip", "snappy"])
def test_the_client_of_0_8_gets_what_it_has_sent(design: str, codec: str, tmp_path: Path) -> None:
    def talk(address: Address) -> Any:
        with Client([address]) as client:
            sets = {("t", 1): [Message(None, value) for value in VALUES]}
            sent = client.produce(sets, acks=-1, compression=codec)
            got = client.fetch({("t", 1): 1, ("t", 0): 0})
            return sent, got, client.offsets({("t", 1): LATEST}, count=2)

    sent, got, offsets = with_broker(design, tmp_path, talk)
    assert sent == {("t", 1): (0, 0)}
    assert got[("t", 1)].messages == ((1, Message(None, b"b")), (2, Message(None, b"c")))
    assert got[("t", 0)].messages == ()
    assert offsets[("t", 1)].offsets == (3, 0)


@pytest.mark.parametrize("design", DESIGNS)
def test_librdkafka_as_of_0_8_2_produces(design: str, tmp_path: Path) -> None:
    failed: list[Any] = []

    def talk(address: Address) -> Any:
        producer = Producer(
            {
                "bootstrap.servers": endpoint_text(address),
                "api.version.request": False,
                "broker.version.fallback": "0.8.2.1",
                "log_level": 0,
            }
        )
        for number, value in enumerate(VALUES):
            producer.produce(
                "t",
                value,
                partition=number % 2,
                callback=lambda error, _: failed.append(error) if error else None,
            )
        left = producer.flush(SOON)
        with Client([address]) as client:
            return left, client.fetch({("t", 0): 0, ("t", 1): 0})

    left, got = with_broker(design, tmp_path, talk)
    assert (left, failed) == (0, [])
    found = {number: [one.value for _, one in got[("t", number)].messages] for number in (0, 1)}
    assert found == {0: [b"a", b"c"], 1: [b"b"]}
