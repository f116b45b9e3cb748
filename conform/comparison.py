"""Compares the responses of two brokers to the same checks: `barnabas conform --against`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.diff.bodies import ABSENT, OF_THE_RUN, Difference, differences, without
from barnabas.conform.operations import Operation, Read, Write
from barnabas.conform.response import Request, read_response
from barnabas.conform.verdicts import Evidence, Failed
from barnabas.specs.frames import Short, request_head
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import read
from barnabas.specs.registry import NAMES

IGNORED: Final = (
    *OF_THE_RUN,
    "*message",
    "api_keys",
    "brokers",
    "node_id",
    "leader_id",
    "*_nodes",
    "topics.configs",
    "log_dir",
    "usable_bytes",
    "total_bytes",
)
"""Fields in which brokers may differ: versions that they offer, their number, defaults, text for people."""


@dataclass(slots=True)
class Transcript:
    """The requests and responses of one check, connection by connection."""

    _in_flight: dict[tuple[int, int], Request] = field(default_factory=dict)
    """(connection, correlation id) -> request."""
    _exchanges: dict[int, list[tuple[Request, bytes]]] = field(default_factory=dict)
    """Connection -> requests and responses in the order of responses."""

    def observe(self, operation: Operation[Any], result: Any) -> None:
        """Add an operation of the check. Bytes that are not one request are left out."""
        match operation:
            case Write(connection, data):
                try:
                    head = request_head(data, 4, len(data))
                except (Malformed, Short):
                    return
                if head.key in NAMES:
                    request = Request(NAMES[head.key], head.version, head.correlation_id, data[4:])
                    self._in_flight[connection, head.correlation_id] = request
            case Read(connection, _) if isinstance(result, bytes):
                correlation_id = int.from_bytes(result[:4], "big", signed=True)
                answered = self._in_flight.pop((connection, correlation_id), None)
                if answered is not None:
                    self._add(connection, answered, result)

    def _add(self, connection: int, request: Request, response: bytes) -> None:
        """Add a response; it replaces that of an equal request, which the check repeated."""
        earlier = self._exchanges.get(connection, [])
        others = [exchange for exchange in earlier if not _same(exchange[0], request)]
        self._exchanges[connection] = [*others, (request, response)]

    def beside(
        self, other: Transcript
    ) -> Iterator[tuple[tuple[Request, bytes], tuple[Request, bytes]]]:
        """Yield the exchanges of both up to the first request of another API."""
        for connection, exchanges in self._exchanges.items():
            others = other._exchanges.get(connection, [])
            for first, second in zip(exchanges, others, strict=False):
                if first[0].api != second[0].api:
                    break
                yield first, second


@dataclass(frozen=True, slots=True)
class Contrast:
    """The first response of a check that differs between two brokers."""

    first: Evidence
    second: Evidence
    differences: tuple[Difference, ...]

    def __str__(self) -> str:
        response = f"{self.first.api} v{self.first.version} response"
        return f"{response}: {self.differences[0]}"


def contrast(first: Transcript, second: Transcript, prefixes: tuple[str, str]) -> Contrast | None:
    """Return the first difference between the responses of two brokers, or None.

    A field that only one of two versions of a response has is no difference. Nor is an element that only one
    of them lists, if the request does not name anything of the check: what else is there may differ.

    Args:
        first: the check on one broker.
        second: the check on the other broker.
        prefixes: begin the names of topics, groups and transactional ids, on either broker; of one length.
    """
    prefix, other_prefix = (text.encode() for text in prefixes)
    for (request, response), (other_request, other_response) in first.beside(second):
        comparable = request.version == other_request.version and prefix in request.frame
        renamed = other_response.replace(other_prefix, prefix)
        bodies = _body(request, response), _body(other_request, renamed)
        different = tuple(
            difference
            for difference in differences(*bodies, ())
            if comparable or ABSENT not in difference[1:]
        )
        if different:
            evidence = _evidence(other_request, renamed)
            return Contrast(_evidence(request, response), evidence, different)
    return None


def _same(earlier: Request, later: Request) -> bool:
    """Return whether a request repeats another one: only the correlation id, bytes 4 to 8, differs."""
    return earlier.frame[:4] == later.frame[:4] and earlier.frame[8:] == later.frame[8:]


def _evidence(request: Request, response: bytes) -> Evidence:
    return Evidence(request.api, request.version, request.frame, response)


def _body(request: Request, response: bytes) -> dict[str, Any]:
    """Return a decoded body without ignored fields, or the reason why it can't be decoded."""
    try:
        body = read_response(request, response).body
    except Failed as failure:
        return {"undecodable": failure.received}
    except LookupError:
        return {}  # the version does not exist
    comparable: dict[str, Any] = _with_records(without(body, IGNORED))
    return comparable


def _with_records(value: Any) -> Any:
    """Return a body with the offsets, keys and values of records: times, ids and epochs may differ."""
    if isinstance(value, dict):
        return {
            name: _records(item) if name == "records" else _with_records(item)
            for name, item in value.items()
        }
    return [_with_records(item) for item in value] if isinstance(value, list) else value


def _records(data: bytes | None) -> Any:
    try:
        batches = read(data or b"")
        return [
            [(item.offset, item.key, item.value) for item in batch.records()] for batch in batches
        ]
    except Malformed:
        return data
