"""Make exchanges for tests of checks: request, response, time and connection."""

from __future__ import annotations

import dataclasses
import gc
import uuid
from types import FunctionType, ModuleType
from typing import Any

from barnabas.captures.checks import CHECKS, Check
from barnabas.captures.checks.finding import MS, Finding
from barnabas.captures.checks.runner import run
from barnabas.captures.kafka.exchange import STRAY, Exchange
from barnabas.specs.records import Record, build
from barnabas.specs.registry import api

Body = dict[str, Any]

S = 1000.0
"""ms in a second."""


def exchange(
    name: str,
    version: int,
    request: Body | None,
    response: Body | None,
    *,
    at: float,
    took: float = 1,
    connection: int = 1,
    host: str | None = None,
    broker: int | None = 1,
    server: str = "",
    client: str | None = "app",
    correlation_id: int | None = None,
    losses: int = 0,
) -> Exchange:
    """Asked `at` ms and answered `took` ms later; without a response it never was.

    Packets are numbered by the time of the request. A client is on a host of its connection's own unless
    it is named.
    """
    declared = api(name)
    sent = None if request is None else declared.request.codec(version).encode(request)
    came = None if response is None else declared.response.codec(version).encode(response)
    number = int(at * 10)
    address = f"{host or f'10.0.0.{connection}'}:{5000 + connection}"
    correlation_id = number if correlation_id is None else correlation_id
    return Exchange(
        *(int(at * MS), connection, address, client, broker),
        *(declared.key, version, correlation_id, 10),
        latency_ms=None if response is None else took,
        request_body=sent,
        response_body=came,
        request_packet=number + 1,
        response_packet=0 if response is None else number + 2,
        losses=losses,
        server_address=server,
    )


def unread(one: Exchange) -> Exchange:
    """Copy an exchange of which nothing has been read, so that its bodies are read anew."""
    return dataclasses.replace(one, facts=None)


def findings_of(name: str, *exchanges: Exchange, **settings: float) -> list[Finding]:
    """Return the findings of one check in these exchanges, in the order in which they end.

    Requests of a connection are numbered by their time.
    """
    copies = [unread(one) for one in exchanges]
    for connection in {copy.connection for copy in copies}:
        mine = [copy for copy in copies if copy.connection == connection and copy.key != STRAY]
        for ordinal, one in enumerate(sorted(mine, key=lambda one: one.ts)):
            one.ordinal = ordinal
    (check,) = checks_named(name)
    if settings:
        check = check._replace(settings=dataclasses.replace(check.settings, **settings))
    return [finding for _, finding in run(copies, (check,))]


def checks_named(*names: str) -> tuple[Check, ...]:
    """Return the checks with these names."""
    return tuple(check for check in CHECKS if check.name in names)


def by_end(*exchanges: Exchange) -> list[Exchange]:
    """Exchanges in the order in which they end."""
    return sorted(exchanges, key=lambda one: one.ts + (one.latency_ms or 0) * MS)


def descriptions(findings: list[Finding]) -> list[tuple[str, str]]:
    """Severity and words of findings."""
    return [(finding.severity, finding.what) for finding in findings]


def evidence_packets(findings: list[Finding]) -> list[list[tuple[int, ...]]]:
    """Return the packets of each finding's evidence."""
    return [[one.packets for one in finding.evidence] for finding in findings]


def produce(
    at: float,
    values: list[str],
    *,
    error: int | None = 0,
    offset: int = 0,
    sequence: int = -1,
    producer: int = -1,
    epoch: int = -1,
    partition: int = 0,
    topic: str | uuid.UUID = "orders",
    acks: int = -1,
    version: int = 9,
    records: bytes | None = None,
    stamp: int = 1_700_000_000_000,
    answer: Body | None = None,
    **more: Any,
) -> Exchange:
    """Make a Produce of values, or else of records, to a topic by name or, since v13, by id.

    error None: no response. answer: further fields of the partition in the response.
    """
    named = {"topic_id" if isinstance(topic, uuid.UUID) else "name": topic}
    if records is None:
        records = build(
            [Record(n, stamp, None, one.encode()) for n, one in enumerate(values)],
            magic=2 if version >= 3 else 1,
            producer_id=producer,
            producer_epoch=epoch,
            base_sequence=sequence,
        )
    sent = {**named, "partition_data": [{"index": partition, "records": records}]}
    said = {"index": partition, "error_code": error, "base_offset": offset, **(answer or {})}
    asked = {"acks": acks, "timeout_ms": 1000, "topic_data": [sent]}
    response = {"responses": [{**named, "partition_responses": [said]}]}
    return exchange("Produce", version, asked, None if error is None else response, at=at, **more)


def texts(value: Any, seen: dict[int, Any] | None = None) -> int:
    """Characters and bytes of all texts that something keeps, each counted once."""
    seen = {} if seen is None else seen
    if id(value) in seen or isinstance(value, type | ModuleType):
        return 0
    seen[id(value)] = value
    if isinstance(value, str | bytes):
        return len(value)
    inner = value.__closure__ or () if isinstance(value, FunctionType) else gc.get_referents(value)
    return sum(texts(one, seen) for one in inner)
