"""Settings of peers: what they can't be, and the names that the documents give them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

import pytest

from barnabas.designs.central_coordination.peers import settings as central
from barnabas.designs.consumer_rewrite.peers import settings as rewrite
from barnabas.designs.options import addresses, from_options
from barnabas.designs.pipelined_producer.peers.settings import Settings

PRODUCER: tuple[tuple[dict[str, Any], str], ...] = (
    ({"in_flight": 0}, "in_flight of 0: at least 1"),
    ({"batch_bytes": 0}, "batch_bytes of 0: at least 1"),
    ({"request_bytes": -1}, "request_bytes of -1: at least 1"),
    ({"in_flight_total": 0}, "in_flight_total of 0: at least 1, or None"),
    ({"queueing": "partitions"}, "queueing of 'partitions': one of partition, one"),
    ({"metadata": "nonblocking"}, "metadata of 'nonblocking': one of blocking, non-blocking"),
    ({"serializing": "send"}, "serializing of 'send': one of client thread, send thread"),
    ({"compression": "zip"}, "compression of 'zip': one of none, gzip, snappy, lz4, zstd"),
    ({"retries": -1}, "retries of -1: at least 0"),
    ({"linger_ms": -1}, "linger_ms of -1: at least 0"),
    ({"expiry_ms": math.nan}, "expiry_ms of nan: at least 0"),
    ({"acks": 1 << 15}, "acks of 32768: an int16"),
    ({"request_timeout_ms": 1 << 31}, "request_timeout_ms of 2147483648: an int32"),
    ({"client_id": "x" * (1 << 15)}, "client_id: at most 32767 bytes"),
    ({"produce_version": 13}, "produce_version of 13: 0 to 12"),
)
REWRITE_CONSUMER: tuple[tuple[dict[str, Any], str], ...] = (
    ({"session_timeout_ms": 0}, "session.timeout.ms of 0: 1 to 2147483647"),
    ({"session_timeout_ms": 1 << 31}, "session.timeout.ms of 2147483648: 1 to 2147483647"),
    ({"heartbeat_frequency": 0}, "heartbeat.frequency of 0: 1 to 6000"),
    ({"heartbeat_frequency": 6_001}, "heartbeat.frequency of 6001: 1 to 6000"),
    ({"bootstrap": ()}, "no broker"),
    ({"pattern": "("}, "the pattern '[(]'"),
    ({"blacklist": "("}, "the blacklist '[(]'"),
)
REWRITE_BROKER: tuple[tuple[dict[str, Any], str], ...] = (
    ({"max_session_timeout_ms": 0}, "max.session.timeout of 0: at least 1"),
    ({"strategies": {}}, "partition.assignment.strategies: there is none"),
    ({"slots": 0}, "0 slots"),
)
CENTRAL_BROKER: tuple[tuple[dict[str, Any], str], ...] = (
    ({"rebalance_threads": 0}, ".*rebalance"),
    ({"min_session_timeout_ms": 2}, ".*min_session_timeout_ms"),  # it would be pinged without end
    ({"max_failed_pings": -1}, ".*max_failed_pings"),
    ({"rebalance_retries": -1}, ".*rebalance"),
)
WRONG = [
    (kind, wrong, says)
    for kind, rows in (
        (Settings, PRODUCER),
        (partial(rewrite.ConsumerSettings, "g", bootstrap=(("h", 1),)), REWRITE_CONSUMER),
        (rewrite.BrokerSettings, REWRITE_BROKER),
        (central.BrokerSettings, CENTRAL_BROKER),
        (partial(central.ConsumerSettings, "g", "c"), (({"bootstrap": ()}, ".*no broker"),)),
    )
    for wrong, says in rows
]


@pytest.mark.parametrize(("kind", "wrong", "says"), WRONG)
def test_what_can_t_be_is_refused(
    kind: Callable[..., object], wrong: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValueError, match=f"^{says}"):
        kind(**wrong)


def test_the_limits_themselves_can_be() -> None:
    most = (1 << 31) - 1
    Settings(acks=-1, retries=0, linger_ms=0, expiry_ms=math.inf, request_timeout_ms=most)
    Settings(acks=(1 << 15) - 1, client_id="x" * ((1 << 15) - 1), produce_version=12)
    rewrite.ConsumerSettings("g", (("h", 1),), session_timeout_ms=1, heartbeat_frequency=1)
    rewrite.ConsumerSettings("g", (("h", 1),), session_timeout_ms=most)
    rewrite.BrokerSettings(max_session_timeout_ms=1, slots=1)
    central.BrokerSettings(1, min_session_timeout_ms=3, max_failed_pings=0, rebalance_retries=0)


def test_options_of_central_coordination_have_the_documents_names() -> None:
    named = [one.metadata["option"] for one in fields(central.BrokerSettings) if one.metadata]
    assert named == [
        "Rebalancing threadpool size",
        "Socket server threadpool size",
        "Minimum viable value for consumer session timeout",
        "Maximum number of timed out heartbeats to consumers",
    ]


def test_a_consumer_of_the_rewrite_by_the_documents_names() -> None:
    options = {
        "bootstrap.brokers": "one:1,two:2",
        "session.timeout.ms": "3000",
        "heartbeat.frequency": 5,
    }
    made = from_options(rewrite.ConsumerSettings, options, group_id="g", topics=("t",))
    assert made.bootstrap == (("one", 1), ("two", 2))
    assert (made.session_timeout_ms, made.heartbeat_interval_ms) == (3_000, 600)


@dataclass(frozen=True)
class Made:
    name: str
    width: int = field(default=1, metadata={"option": "the width"})
    length_ms: int = field(default=2, metadata={"option": "the length", "read": len})

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError(f"the width of {self.width}: at least 1")


def test_fields_are_set_by_the_documents_names_and_others_by_ours() -> None:
    made = from_options(Made, {"the width": "7", "the length": "abc"}, name="n")
    assert made == Made("n", 7, 3)
    assert from_options(Made, {}, name="n") == Made("n")


@pytest.mark.parametrize("name", ["width", "name", "The width", ""])
def test_a_name_that_the_document_has_not_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: no option; there are the width, the length$"):
        from_options(Made, {name: 1}, name="n")


@pytest.mark.parametrize("value", ["", "one", "1.5", "- 1", "--1", 1.5, True, None, [1]])
def test_a_value_that_can_t_be_read_is_refused_with_its_name(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^the width: .* is not a whole number$"):
        from_options(Made, {"the width": value}, name="n")


def test_what_the_settings_refuse_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^the width of 0: at least 1$"):
        from_options(Made, {"the width": 0}, name="n")


@pytest.mark.parametrize(
    "value", ["", "host", "host:", ":1", "host:0", "host:65536", "a:1,,b:2", "[::1:9", "a:\u0669"]
)
def test_what_is_no_address(value: str) -> None:
    with pytest.raises(ValueError, match="is not host:port"):
        addresses(value)
