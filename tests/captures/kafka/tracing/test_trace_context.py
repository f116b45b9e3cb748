from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.tracing import trace_context as under_test
from barnabas.captures.kafka.tracing.trace_context import (
    TraceContext,
    contexts_of,
    record_count,
    trace_context,
)
from barnabas.specs.records import Record, build
from barnabas.specs.registry import api

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
KNOWN = TraceContext(int(TRACE, 16), int(SPAN, 16))


@pytest.mark.parametrize(
    ("header", "known"),
    [
        (f"00-{TRACE}-{SPAN}-01", True),
        (f"00-{TRACE}-{SPAN}-03", True),  # flags of a later level
        (f"cc-{TRACE}-{SPAN}-01-what-comes-later", True),
        (f"cc-{TRACE}-{SPAN}-01.what-comes-later", False),
        (f"00-{TRACE}-{SPAN}-01-more", False),
        (f"ff-{TRACE}-{SPAN}-01", False),
        (f"00-{TRACE}-{SPAN}-00", False),  # not sampled: nobody has that span
        (f"00-{TRACE}-{SPAN}", False),
        (f"00-{TRACE.upper()}-{SPAN}-01", False),
        (f"00-{'0' * 32}-{SPAN}-01", False),
        (f"00-{TRACE}-{'0' * 16}-01", False),
        (f" 00-{TRACE}-{SPAN}-01", False),
        (f"00-{TRACE}-{SPAN}-01\n", False),
        (f"cc-{TRACE}-{SPAN}-01-" + "x" * 600, False),
        ("", False),
    ],
)
def test_a_header_names_a_span(header: str, known: bool) -> None:
    assert trace_context(header.encode()) == (KNOWN if known else None)


def header(number: int) -> bytes:
    return f"00-{TRACE}-{number:016x}-01".encode()


def record(number: int, **headers: bytes | None) -> Record:
    return Record(number, 1, None, b"v", tuple(headers.items()))


def produced(*sets: bytes | None) -> Exchange:
    topics = [
        {"name": f"t{at}", "partition_data": [{"index": 0, "records": data}]}
        for at, data in enumerate(sets)
    ]
    body = api("Produce").request.codec(8).encode({"topic_data": topics})
    return Exchange(0, 1, "", None, None, 0, 8, 1, 10, request_body=body)


def fetched(key: int, version: int, data: bytes) -> Exchange:
    partition: dict[str, Any] = {"partition_index": 0, "records": data}
    body = {"responses": [{"partitions": [partition]}]}
    response = api(key).response.codec(version).encode(body)
    return Exchange(0, 1, "", None, None, key, version, 1, 10, response_body=response)


def spans(exchange: Exchange) -> list[int]:
    return [context.span_id for context in contexts_of(exchange)]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_each_is_found_once_in_the_order_of_the_records(codec: str) -> None:
    numbers = (3, 1, 3, 2)
    given = [record(at, other=b"", traceparent=header(n)) for at, n in enumerate(numbers)]
    data = build([*given, record(4), record(5, traceparent=b"?")], compression=codec)
    assert spans(produced(data)) == [3, 1, 2]
    assert spans(fetched(1, 4, data)) == [3, 1, 2]
    assert spans(fetched(78, 1, data)) == [3, 1, 2]


def test_sets_follow_each_other_and_what_is_broken_has_none() -> None:
    good = build([record(0, traceparent=header(7))])
    broken = build([record(0, traceparent=header(8))], compression="gzip")[:-4] + b"\0\0\0\0"
    assert spans(produced(None, b"", broken, good[:30], good)) == [7]
    assert record_count(produced(good, good[:30])) == 1


def test_so_many_records_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "RECORDS", 3)
    given = [record(at, traceparent=header(at + 1)) for at in range(5)]
    assert spans(produced(build(given))) == [1, 2, 3]


def test_a_batch_that_grows_without_end_is_not_looked_into() -> None:
    value = b"traceparent" + bytes(under_test.OUTPUT)
    given = [Record(0, 1, None, value, (("traceparent", header(1)),))]
    assert spans(produced(build(given, compression="zstd"))) == []
