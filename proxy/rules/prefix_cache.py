"""Decides by the first fields of a request whether any rule is about it.

A condition on fields that stand in front (`acks`, `timeout_ms`, `group_id`) is decided on the first
bytes. If it does not hold, the request passes as it comes, and so does every later one of its kind
on the connection that begins with the same bytes: `barnabas.proxy.connection.header_walk` only compares them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from barnabas.captures.kafka.context.completing import gaps
from barnabas.captures.kafka.expression import Unclear
from barnabas.proxy.rules.rule import Rule
from barnabas.specs import api
from barnabas.specs.frames import RequestHead
from barnabas.specs.jsonform import to_json
from barnabas.specs.keys import PRODUCE

LONG: Final = 8 << 10
"""Bytes that are remembered of what requests of a kind begin with; if it is longer, each is looked at."""

FAR: Final = 4 << 10
"""Bytes of a body that are looked at; what is decided by more waits until the request is whole."""


class KnownPrefix(NamedTuple):
    """A kind of request that passes unread, if it begins like the last one of its kind."""

    key: int
    version: int
    head: bytes
    """From the client id's length (byte 12) to the last field that somebody wants to know."""
    end: int
    """Where these bytes end in the frame, size field included."""
    sizes: range
    """Its size: room for a header and the bytes that it begins with, and of no interest to a rule."""
    answered: bool
    """False for Produce with acks=0."""

    def resembles(self, view: memoryview | bytes, size: int) -> bool:
        """Whether a request of this kind, of which at least the header is here, passes unread too."""
        return size in self.sizes and view[12 : self.end] == self.head


def known_prefix(
    head: RequestHead, view: memoryview | bytes, end: int | None, sizes: range
) -> KnownPrefix:
    """What passes from now on, after one request of which the bytes up to `end` (None: none) matter."""
    beginning = b"" if end is None else bytes(view[12:end])
    end = 12 + len(beginning)
    sizes = range(max(10, end - 4, sizes.start), sizes.stop)
    return KnownPrefix(head.key, head.version, beginning, end, sizes, head.acks != 0)


def unmatched_sizes(rules: Collection[Rule], size: int, largest: int) -> range:
    """The sizes, from the least to the largest, of frames that none of these rules is about.

    One of them is `size`, which none of the rules has.

    >>> from barnabas.proxy.rules.rules import Rules
    >>> from barnabas.proxy.scenario.file import loads
    >>> rules = "{version: 1, rules: [{name: r, match: {size: {at_least: 1KiB}}, do: close}]}"
    >>> unmatched_sizes(Rules(loads(rules)).rules, 100, 9999)
    range(4, 1020)
    """
    least, most = 4, largest
    for rule in rules:
        if size < rule.sizes.start:
            most = min(most, rule.sizes.start - 1)
        else:
            least = max(least, rule.sizes.stop)
    return range(least, most + 1)


def deciding_prefix(
    rules: Collection[Rule], head: RequestHead, view: memoryview | bytes, have: int
) -> int | None:
    """How many bytes of a frame show that none of these rules is about it.

    None if one is, or may be. The frame begins with its size; `have` bytes of it are here.
    """
    kind = head.key, head.version
    names = {"acks"} if head.key == PRODUCE else set()
    rules = [rule for rule in rules if rule.match.acks is None or head.acks in rule.match.acks]
    for rule in rules:
        if rule.where is None or rule.where.roots is None or rule.match.needs_body:
            return None
        names.update(rule.where.roots)
    if any(names.intersection((*place.path, place.name)) for place in gaps(*kind, "request")):
        return None  # names must be put back first
    start = 4 + head.body
    if not names and not rules:
        return start
    lead = api(head.key).request.codec(head.version).project_prefix(*sorted(names))
    found = lead(bytes(view[start : min(have, start + FAR)]))
    if found is None:
        return None
    values, length = found
    fields = to_json(values)
    try:
        if any(rule.where is not None and rule.where.holds(fields) for rule in rules):
            return None
    except Unclear:
        return None
    return start + length
