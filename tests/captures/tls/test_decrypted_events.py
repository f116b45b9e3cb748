"""Test the events of TLS connections, and of all others."""

from __future__ import annotations

from typing import Any

from barnabas.captures.kafka.framing.protocol_detection import ProtocolDetection
from barnabas.captures.tcp.events import Chunk, Closed, Event, Lost, Opened
from barnabas.captures.tls.decryption import Decryption, TlsCounts
from barnabas.captures.tls.keylog import KeyLog

OPENED = Opened(3, 5, "10.0.0.1:5000", "10.0.0.2:9092", {})


def chunk(data: bytes, ts_ns: int = 6, **more: Any) -> Chunk:
    return Chunk(3, "arrived", "request", ts_ns, data, ())._replace(**more)


def fed(*events: Event) -> tuple[list[Event], TlsCounts]:
    seen = TlsCounts()
    decryption = Decryption(KeyLog(), seen, ProtocolDetection().left_out)
    found = [one for event in events for one in decryption.feed(event)]
    return [*found, *decryption.end()], seen


def test_all_else_is_let_through() -> None:
    answer = chunk(b"\x16\3\1\0\5\1", direction="response")
    for events in (
        (OPENED, chunk(b"\0\0"), chunk(b"\0\x10more"), Closed(3, 7, False)),
        (OPENED, chunk(b"\x16"), chunk(b"\3\1\0\5"), chunk(b"\2"), Closed(3, 7, False)),
        (OPENED, chunk(b"\x16\3"), Closed(3, 7, False)),
        (OPENED, chunk(b"\x16\3")),
        (OPENED, Lost(3, "arrived", "request", 6, 9), chunk(b"\x16\3\1\0\5\1\0\0\1\0")),
        (OPENED, answer, chunk(b"\0\0\0\x10")),
        (OPENED,),
    ):
        assert fed(*events) == (list(events), TlsCounts())


HELLO = b"\x16\3\1\0\5\1\0\0\1\0"


def test_nothing_is_kept_of_those_that_ended() -> None:
    decryption = Decryption(KeyLog(), TlsCounts(), ProtocolDetection().left_out)
    for number in range(50):
        for event in (OPENED, chunk(HELLO), Closed(3, 7, False)):
            list(decryption.feed(event._replace(connection=number)))
    assert not decryption._open
    assert decryption.lets_through(chunk(b"x"))
