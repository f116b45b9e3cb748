"""What is put into a case's chunks before they are sent."""

from __future__ import annotations

import struct

from barnabas.fuzz.answering.fitting import encoded
from barnabas.fuzz.answering.planted import filled
from barnabas.fuzz.answering.seeds import seeds
from barnabas.fuzz.cases.case import Case, Live, Recipe
from barnabas.specs import keys
from barnabas.specs.frames import decode_frame


def _case(chunk: bytes, *live: Live) -> Case:
    seed, *_ = seeds([(keys.METADATA, 9)])
    return Case(0, Recipe(seed, ()), (chunk,), live)


def _valid() -> bytes:
    seed, *_ = seeds([(keys.METADATA, 9)])
    return struct.pack(">i", len(seed.frame)) + seed.frame


def test_the_requests_correlation_id_and_the_listeners_port_are_put_in() -> None:
    (chunk,) = filled(_case(_valid()), 77, "127.0.0.1", 40123)
    frame = decode_frame(chunk[4:], "response", key=keys.METADATA, version=9)
    assert frame.header["correlation_id"] == 77
    assert [(one["host"], one["port"]) for one in frame.body["brokers"]] == [("127.0.0.1", 40123)]
    assert len(chunk) == len(_valid())


def _with_broker(host: str, port: int) -> bytes:
    frame = decode_frame(_valid()[4:], "response", key=keys.METADATA, version=9)
    brokers = [{"node_id": 0, "host": host, "port": port}]
    body = encoded(keys.METADATA, 9, "response", {**frame.body, "brokers": brokers})
    data = b"\x00\x00\x00\x01\x00" + body
    return struct.pack(">i", len(data)) + data


def test_nobody_is_sent_to_an_address_that_is_not_the_benchs() -> None:
    for host, port in (("10.0.0.1", 9092), ("kafka.example.org", 9092), ("127.0.0.1", 22)):
        (chunk,) = filled(_case(_with_broker(host, port)), 1, "127.0.0.1", 40123)
        (broker,) = decode_frame(chunk[4:], "response", key=3, version=9).body["brokers"]
        assert (broker["host"], broker["port"]) == ("127.0.0.1", 40123)


def test_an_address_that_nobody_can_go_to_stays() -> None:
    for host, port in (("no such host\x00", 9092), ("127.0.0.1", -1), ("x" * 300, 9092)):
        chunk = _with_broker(host, port)
        assert filled(_case(chunk), 1, "127.0.0.1", 40123) == (chunk,)


def test_what_can_not_be_read_is_sent_as_it_is() -> None:
    chunk = b"\x00\x00\x00\x05\x00\x00\x00\x01\xff"
    assert filled(_case(chunk), 1, "127.0.0.1", 40123) == (chunk,)
