"""Find the trace contexts in record headers, as defined by W3C Trace Context.

https://www.w3.org/TR/trace-context/#traceparent-header
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.values.record_sets import CARRIERS, record_sets
from barnabas.specs import records
from barnabas.specs.malformed import Malformed

HEADER: Final = "traceparent"

RECORDS: Final = 1000
"""Records of an exchange that are searched."""

OUTPUT: Final = 8 << 20
"""Bytes of the largest decompressed batch that is searched."""

_FORM: Final = re.compile(
    rb"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.DOTALL
)
_LONGEST: Final = 512
_INVALID_VERSION: Final = b"ff"
_FIRST_VERSION: Final = b"00"
_SAMPLED: Final = 1


class TraceContext(NamedTuple):
    """The identity of a span."""

    trace_id: int
    span_id: int


def trace_context(header: bytes | None) -> TraceContext | None:
    """Parse a traceparent header; None if it is invalid or not sampled.

    >>> trace_context(b"00-0000000000000000000000000000000a-000000000000000b-01")
    TraceContext(trace_id=10, span_id=11)
    >>> trace_context(b"00-0000000000000000000000000000000a-000000000000000b-00")
    """
    if header is None or len(header) > _LONGEST or (match := _FORM.fullmatch(header)) is None:
        return None
    version, trace, span, flags, more = match.groups()
    if version == _INVALID_VERSION or (more and version == _FIRST_VERSION):
        return None
    context = TraceContext(int(trace, 16), int(span, 16))
    return context if all(context) and int(flags, 16) & _SAMPLED else None


def contexts_of(exchange: Exchange) -> list[TraceContext]:
    """Return the distinct trace contexts of an exchange's records, in order.

    Undecodable records have none.
    """
    contexts = dict.fromkeys(islice(_contexts(_record_sets(exchange)), RECORDS))
    return [context for context in contexts if context is not None]


def record_count(exchange: Exchange) -> int | None:
    """Return the number of records in an exchange; None if it carries none, or the count is unknown."""
    counts = [records.summary(data).records for data in _record_sets(exchange)]
    return sum(count or 0 for count in counts) if counts and None not in counts else None


def _record_sets(exchange: Exchange) -> Iterator[bytes]:
    direction = CARRIERS.get(exchange.key)
    if direction is not None:
        yield from (data for _, data in record_sets(exchange.decode(direction).fields) if data)


def _contexts(sets: Iterable[bytes]) -> Iterator[TraceContext | None]:
    """Yield the trace context of each record, or None; batches that certainly have none are skipped."""
    for data in sets:
        plain = HEADER.encode() in data
        try:
            for batch in records.read(data, max_output=OUTPUT):
                if plain or batch.compression != "none":
                    yield from map(_context, batch)
        except Malformed:
            pass


def _context(record: records.Record) -> TraceContext | None:
    headers = record.headers
    return trace_context(next((value for name, value in headers if name == HEADER), None))
