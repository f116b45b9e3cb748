"""Whether a broker serves: a Metadata request through a socket, with our own declarations.

Of ZooKeeper, whether it serves and still counts on a broker: the four-letter words `ruok` and
`dump` of its administrator's guide.
"""

from __future__ import annotations

import socket
import struct
from typing import Any, Final

from barnabas.peers.apache.settings import HOST
from barnabas.specs import Frame, Malformed, decode_frame, encode_frame
from barnabas.specs.keys import METADATA

TOPIC: Final = "barnabas-ready"
"""A topic for clusters of 0.8, whose brokers may know no broker until a topic exists."""

PATIENCE: Final = 1.0
"""Timeout of a response in seconds."""

_LARGEST: Final = 10_000_000


def ask(port: int, key: int, version: int, body: dict[str, Any], timeout: float) -> dict[str, Any]:
    """Send a request on a new connection, and return the body of its response.

    Raises:
        OSError: No response within `timeout` seconds.
        Malformed: The response can't be decoded.
    """
    header = {"correlation_id": 1, "client_id": "barnabas"}
    with socket.create_connection((HOST, port), timeout) as connection:
        connection.settimeout(timeout)
        connection.sendall(encode_frame(Frame("request", key, version, header, body)))
        with connection.makefile("rb") as stream:
            head = stream.read(4)
            size = struct.unpack(">i", head)[0] if len(head) == 4 else 0
            data = stream.read(size) if 4 <= size <= _LARGEST else b""
    if not data or len(data) != size:
        raise ConnectionError(f"no answer from {HOST}:{port}")
    return decode_frame(data, "response", key=key, version=version).body


def brokers(port: int, kafka: tuple[int, ...], timeout: float = PATIENCE) -> set[int]:
    """Return the node ids in a broker's metadata; empty while the broker is not ready.

    From 0.10 on the request names no topic, and the metadata must name a controller among the brokers. In 0.9
    the request is for all topics, in 0.8 for TOPIC, which must have a leader.
    """
    version = 1 if kafka >= (0, 10) else 0
    topics = [{"name": TOPIC}] if kafka < (0, 9) else []
    try:
        answer = ask(port, METADATA, version, {"topics": topics}, timeout)
    except (OSError, Malformed):
        return set()
    nodes = {broker["node_id"] for broker in answer["brokers"]}
    if version and answer["controller_id"] not in nodes:
        return set()
    if topics and any(
        topic["error_code"] or any(part["leader_id"] not in nodes for part in topic["partitions"])
        for topic in answer["topics"]
    ):
        return set()
    return nodes


def keeps(port: int) -> bool:
    """Return whether a ZooKeeper serves at a port."""
    return _word(port, b"ruok") == "imok"


def registered(port: int, node: int) -> bool:
    """Whether ZooKeeper has the entry of a broker; it goes with the broker's session."""
    return f"/brokers/ids/{node}" in _word(port, b"dump").split()


def _word(port: int, word: bytes) -> str:
    """Return ZooKeeper's response to a four-letter word; empty without a connection."""
    try:
        with socket.create_connection((HOST, port), PATIENCE) as connection:
            connection.settimeout(PATIENCE)
            connection.sendall(word)
            with connection.makefile("rb") as stream:
                return stream.read().decode(errors="replace")
    except OSError:
        return ""
