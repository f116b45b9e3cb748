"""Compare two captures exchange by exchange.

Exchanges of a client are paired if their requests are equal, in order; exchanges between those are paired by
API. Connections and brokers are ignored, since a client may reconnect, and partitions have other leaders in
another run.
"""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple

from barnabas.captures.diff.bodies import OF_THE_RUN, Difference, differences, without
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.name_completion import complete
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.unpacked_records import unpacked
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.jsonform import to_json
from barnabas.specs.secrets import redact

LIMIT: Final = 1 << 30
"""Bytes of bodies of a capture at most."""

Names = dict[uuid.UUID, str]


class TooLarge(ValueError):
    """An error: the captures have more bodies than can be compared at once."""


class Compared(NamedTuple):
    """Two paired exchanges with their differences, or one exchange without a partner."""

    left: Exchange | None
    right: Exchange | None
    request: tuple[Difference, ...] = ()
    response: tuple[Difference, ...] = ()

    @property
    def same(self) -> bool:
        """Return whether the two exchanges are equal."""
        return None not in (self.left, self.right) and not self.request and not self.response


def compare(
    left: Iterable[Exchange],
    right: Iterable[Exchange],
    ignore: Iterable[str] = OF_THE_RUN,
    *,
    contexts: tuple[Context, Context] | None = None,
    limit: int = LIMIT,
) -> Iterator[Compared]:
    """Yield all exchanges of both captures, paired, by client in request order.

    Args:
        left: The exchanges of one capture.
        right: The exchanges of the other.
        ignore: See `barnabas.captures.diff.bodies`.
        contexts: Facts known of each capture before its exchanges.
        limit: Bytes of bodies of each capture.

    Raises:
        TooLarge: A capture has more bytes.
    """
    ignore = tuple(ignore)
    our_context, other_context = contexts or (Context(), Context())
    ours, our_names = _by_client(left, limit, our_context)
    others, other_names = _by_client(right, limit, other_context)
    for client in dict.fromkeys((*ours, *others)):
        left_exchanges, right_exchanges = ours.get(client, []), others.get(client, [])
        for first, second in _together(
            left_exchanges, right_exchanges, our_names, other_names, ignore
        ):
            if first is None or second is None:
                yield Compared(first, second)
                continue
            per_direction = []
            for direction in DIRECTIONS:
                left_body = _body(first, direction, our_names)
                right_body = _body(second, direction, other_names)
                per_direction.append(tuple(differences(left_body, right_body, ignore)))
            yield Compared(first, second, *per_direction)


def _by_client(
    exchanges: Iterable[Exchange], limit: int, context: Context
) -> tuple[dict[str | None, list[Exchange]], Names]:
    by_client: dict[str | None, list[Exchange]] = defaultdict(list)
    held = 0
    for exchange in exchanges:
        context.learn(exchange)
        held += exchange.request_size + (exchange.response_size or 0)
        if held > limit:
            raise TooLarge(f"more than {limit >> 20} MiB of messages: compare a part of them")
        by_client[exchange.client_id].append(exchange)
    for several in by_client.values():
        several.sort(key=lambda exchange: exchange.ts)
    return by_client, dict(context.topics)


def _together(
    left: list[Exchange],
    right: list[Exchange],
    left_names: Names,
    right_names: Names,
    ignore: tuple[str, ...],
) -> Iterator[tuple[Exchange | None, Exchange | None]]:
    left_requests = [_request_hash(exchange, left_names, ignore) for exchange in left]
    right_requests = [_request_hash(exchange, right_names, ignore) for exchange in right]
    for operation, a, b, c, d in SequenceMatcher(None, left_requests, right_requests).get_opcodes():
        if operation == "equal":
            yield from zip(left[a:b], right[c:d], strict=True)
        else:
            yield from _by_api(left[a:b], right[c:d])


def _by_api(
    left: list[Exchange], right: list[Exchange]
) -> Iterator[tuple[Exchange | None, Exchange | None]]:
    """Pair the n-th exchanges of each API."""
    rest: dict[int, list[Exchange]] = defaultdict(list)
    for exchange in reversed(right):
        rest[exchange.key].append(exchange)
    for exchange in left:
        same_api = rest[exchange.key]
        yield exchange, same_api.pop() if same_api else None
    for exchange in right:
        if any(exchange is other for other in rest[exchange.key]):
            yield None, exchange


def _request_hash(exchange: Exchange, names: Names, ignore: tuple[str, ...]) -> int:
    """Return a hash that two exchanges share if their requests are equal."""
    body = _body(exchange, "request", names)
    return hash((exchange.key, json.dumps(without(body, ignore), sort_keys=True)))


def _body(exchange: Exchange, direction: Direction, names: Names) -> dict[str, Any] | None:
    body: dict[str, Any] | None = getattr(exchange, direction)
    if body is None:
        return None
    json_body: dict[str, Any] = to_json(unpacked(redact(exchange.key, direction, body)))
    complete(json_body, exchange.key, exchange.version, direction, names)
    return json_body
