"""Observations that tests of oracles judge, and what an oracle says of one."""

from __future__ import annotations

from typing import Any, Final

from barnabas.fuzz.cases.case import Case, Change, Recipe, Seed
from barnabas.fuzz.cases.observation import Observation, Probe
from barnabas.fuzz.oracles.registry import ORACLES
from barnabas.specs import api
from barnabas.specs.keys import METADATA, PRODUCE
from barnabas.specs.records import build
from barnabas.specs.records.record import Record
from tests.fuzz.observed import observed, request, response

MIB: Final = 1 << 20
ASK: Final = request(METADATA, 1, {"topics": None})
ANSWER: Final = response(METADATA, 1, {"brokers": [], "topics": []})
BATCH: Final = build([Record(0, 1000, b"k", b"v")])
ANSWERED: Final = Probe(True, 1.0)
NOT_ANSWERED: Final = Probe(False, 5000.0, "no answer within 5 s")
LATE: Final = Probe(False, 4000.0, "a session had not ended after 4 s")
DAMAGED: Final = Probe(True, 1.0, "its records are gone")
CHANGED: Final = "responses[0].partitions[1]._tags.count"

NPE: Final = """\
[data-plane-kafka-request-handler-1] ERROR kafka.server.KafkaApis - [KafkaApi-1] Unexpected error
java.lang.NullPointerException: Cannot invoke "String.length()" because "topic" is null
\tat java.base/java.util.Objects.requireNonNull(Objects.java:208)
\tat kafka.server.metadata.ZkMetadataCache.$anonfun$getTopic$2(ZkMetadataCache.scala:133)
\tat kafka.server.KafkaApis.handleTopicMetadataRequest(KafkaApis.scala:1175)"""
NULL_AT: Final = (
    "java.lang.NullPointerException",
    "kafka.server.metadata.ZkMetadataCache.getTopic",
    "kafka.server.KafkaApis.handleTopicMetadataRequest",
)
REFUSED: Final = """\
[data-plane-kafka-network-thread-1] ERROR kafka.network.Processor - Exception while processing request
org.apache.kafka.common.errors.InvalidRequestException: Error getting request for apiKey: METADATA
Caused by: java.lang.RuntimeException: Tried to allocate a collection of size 7, but there are only 3 left
\tat org.apache.kafka.common.message.MetadataRequestData.read(MetadataRequestData.java:99)"""
HEAP: Final = """\
[data-plane-kafka-network-thread-1] ERROR kafka.network.Processor - Processor got uncaught exception
java.lang.OutOfMemoryError: Java heap space
\tat java.base/java.util.ArrayList.<init>(ArrayList.java:154)
\tat org.apache.kafka.common.message.MetadataRequestData.read(MetadataRequestData.java:99)"""
HEAP_AT: Final = ("java.lang.OutOfMemoryError", "org.apache.kafka.common.message.*RequestData.read")
ASSERTION: Final = (
    "program: queue.c:12: push_all: Assertion `count > 0' failed.\nFatal Python error: Aborted\n"
)
SIGNAL: Final = "the process ended: signal"
NO_FRAMES: Final = ("no stack", "Metadata", "nulls topics")
"""What tells `ASK`'s case apart if nothing tells a place."""


def of_broker(sent: bytes = ASK, facts: dict[str, Any] | None = None, **seen: Any) -> Observation:
    """Return what was seen of a case that sent this to a broker."""
    return observed(sent, facts=tuple((facts or {}).items()), **seen)


def of_client(path: str = CHANGED, facts: dict[str, Any] | None = None, **seen: Any) -> Observation:
    """Return what was seen of a client that got a Fetch response with a field changed."""
    seed = Seed(1, 12, "response", bytes(9), "tests")
    case = Case(3, Recipe(seed, (Change("counts", path, 7),)), (b"chunk",))
    return Observation(case, facts=tuple((facts or {}).items()), **seen)


def raising(client: str, *bases: str, where: str = "call") -> Observation:
    """Return what was seen of a client that raised an exception of a class with these bases."""
    frames = ["client/parser.py:read", "client/conn.py:recv", "client/a.py:poll", "client/b.py:x"]
    facts = {"dialect": client, "bases": [*bases], "frames": frames, "where": where}
    return of_client(raised=f"{bases[0]}: 17 of 3\n {frames[0]}", facts=facts)


def judged(name: str, observation: Observation) -> list[tuple[str, ...]]:
    """Return what an oracle says of an observation: (in words, what tells it from others ...)."""
    (oracle,) = (oracle for oracle in ORACLES if oracle.name == name)
    verdicts = list(oracle.judge(observation))
    assert {verdict.oracle for verdict in verdicts} <= {name}
    return [(verdict.message, *verdict.behaviour) for verdict in verdicts]


def empty(key: int, **fields: Any) -> bytes:
    """Return a request of the newest version with nothing in it but these."""
    version = api(key).versions[1]
    return request(key, version, api(key).request.layout(version).defaults() | fields)


def produce(version: int, records: bytes, acks: int = 1, topic: str = "t") -> bytes:
    part = {"index": 0, "records": records}
    data = [{"name": topic, "partition_data": [part]}]
    return request(PRODUCE, version, {"acks": acks, "timeout_ms": 1000, "topic_data": data})
