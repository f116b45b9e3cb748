"""What a client's first bytes say of the protocol."""

from __future__ import annotations

import pytest

from barnabas.proxy.connection.framing import begins
from barnabas.proxy.connection.state import Phase
from tests.proxy.frames import Chunks, heartbeat_request, request, slicings
from tests.proxy.playbook import Stage


@pytest.mark.parametrize("api", ["ApiVersions", "Metadata", "SaslHandshake", "Produce", "Fetch"])
def test_requests_of_kafka_are_known_and_in_part_from_their_size_on(api: str) -> None:
    frame = request(api, 1)
    assert [begins(frame[:count]) for count in range(20)] == [False] * 4 + [True] * 16


@slicings
@pytest.mark.parametrize("observed", [True, False])
def test_a_connection_is_judged_by_its_first_bytes_alone(chunks: Chunks, observed: bool) -> None:
    stage = Stage(observed=observed)
    for first, foreign in ((heartbeat_request(1), False), (b"*1\r\n$4\r\nPING\r\n", True)):
        actor = stage.actor()
        actor.connection.state.phase = Phase.UNDECIDED
        actor.ask(first[:12])
        actor.ask(first[12:] + first, chunks)
        assert actor.sent["request"] == first * 2
        assert (actor.connection.state.phase is Phase.FOREIGN) == foreign
        assert actor.waiting == ([] if foreign else [1, 1])
        assert not actor.said


OTHERS = {
    "nothing": b"",
    "Redis": b"*1\r\n$4\r\nPING\r\n",
    "HTTP": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(20),
    "SOCKS": b"\x05\x01\x00",
    "SSL of PostgreSQL": b"\x00\x00\x00\x08\x04\xd2\x16\x2f",
    "PostgreSQL": b"\x00\x00\x00\x29\x00\x03\x00\x00user\x00postgres\x00database\x00postgres\x00\x00",
    "AMQP": b"AMQP\x00\x00\x09\x01",
    "MongoDB": b"\x3a\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\xd4\x07\x00\x00",
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_protocols_are_not_kafka(name: str) -> None:
    assert not begins(OTHERS[name])
