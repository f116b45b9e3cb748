"""Two captures, exchange by exchange: which belong together, and what differs in them.

Exchanges of a client belong together if they ask for the same, in order; what remains between them
belongs together by API. Neither connections nor brokers are told apart: who connects again asks on, and
partitions have other leaders in another run.
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
from barnabas.captures.kafka.context.completing import complete
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.unpacked_records import unpacked
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.jsonform import to_json
from barnabas.specs.secrets import redact

LIMIT: Final = 1 << 30
"""Bytes of bodies of a capture at most."""

Names = dict[uuid.UUID, str]


class TooLarge(ValueError):
    """A capture of more bodies than are compared at once."""


class Compared(NamedTuple):
    """Two exchanges that belong together and what differs in them; or one that has no other."""

    left: Exchange | None
    right: Exchange | None
    request: tuple[Difference, ...] = ()
    response: tuple[Difference, ...] = ()

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return None not in (self.left, self.right) and not self.request and not self.response


def compare(
    left: Iterable[Exchange],
    right: Iterable[Exchange],
    ignore: Iterable[str] = OF_THE_RUN,
    *,
    contexts: tuple[Context, Context] | None = None,
    limit: int = LIMIT,
) -> Iterator[Compared]:
    """All exchanges of both, by client in the order in which they were asked.

    ignore: see `barnabas.captures.diff.bodies`. contexts: what is known of each beside what these teach.
    limit: bytes of bodies of each. Raises TooLarge.
    """
    ignore = tuple(ignore)
    our_context, other_context = contexts or (Context(), Context())
    ours, our_names = _by_client(left, limit, our_context)
    others, other_names = _by_client(right, limit, other_context)
    for client in dict.fromkeys((*ours, *others)):
        one, other = ours.get(client, []), others.get(client, [])
        for first, second in _together(one, other, our_names, other_names, ignore):
            if first is None or second is None:
                yield Compared(first, second)
                continue
            found = []
            for direction in DIRECTIONS:
                one_body = _body(first, direction, our_names)
                other_body = _body(second, direction, other_names)
                found.append(tuple(differences(one_body, other_body, ignore)))
            yield Compared(first, second, *found)


def _by_client(
    exchanges: Iterable[Exchange], limit: int, context: Context
) -> tuple[dict[str | None, list[Exchange]], Names]:
    found: dict[str | None, list[Exchange]] = defaultdict(list)
    held = 0
    for exchange in exchanges:
        context.learn(exchange)
        held += exchange.request_size + (exchange.response_size or 0)
        if held > limit:
            raise TooLarge(f"more than {limit >> 20} MiB of messages: compare a part of them")
        found[exchange.client_id].append(exchange)
    for several in found.values():
        several.sort(key=lambda exchange: exchange.ts)
    return found, dict(context.topics)


def _together(
    left: list[Exchange],
    right: list[Exchange],
    left_names: Names,
    right_names: Names,
    ignore: tuple[str, ...],
) -> Iterator[tuple[Exchange | None, Exchange | None]]:
    asked = [_asked(exchange, left_names, ignore) for exchange in left]
    also = [_asked(exchange, right_names, ignore) for exchange in right]
    for what, a, b, c, d in SequenceMatcher(None, asked, also).get_opcodes():
        if what == "equal":
            yield from zip(left[a:b], right[c:d], strict=True)
        else:
            yield from _by_api(left[a:b], right[c:d])


def _by_api(
    left: list[Exchange], right: list[Exchange]
) -> Iterator[tuple[Exchange | None, Exchange | None]]:
    """The n-th of an API belongs to the n-th of it."""
    rest: dict[int, list[Exchange]] = defaultdict(list)
    for exchange in reversed(right):
        rest[exchange.key].append(exchange)
    for exchange in left:
        found = rest[exchange.key]
        yield exchange, found.pop() if found else None
    for exchange in right:
        if any(exchange is other for other in rest[exchange.key]):
            yield None, exchange


def _asked(exchange: Exchange, names: Names, ignore: tuple[str, ...]) -> int:
    """A number that two exchanges share if they ask for the same."""
    body = _body(exchange, "request", names)
    return hash((exchange.key, json.dumps(without(body, ignore), sort_keys=True)))


def _body(exchange: Exchange, direction: Direction, names: Names) -> dict[str, Any] | None:
    body: dict[str, Any] | None = getattr(exchange, direction)
    if body is None:
        return None
    shown: dict[str, Any] = to_json(unpacked(redact(exchange.key, direction, body)))
    complete(shown, exchange.key, exchange.version, direction, names)
    return shown
