"""A look at the beginning of a request: whether any rule is about it, before its rest has come.

A condition on fields that stand in front (`acks`, `timeout_ms`, `group_id`) is decided on the first
bytes. If it does not hold, the request passes as it comes, and so does every later one of its kind
on the connection that begins with the same bytes: `proxy.skim` only compares them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from captures.context.completing import gaps
from captures.expression import Unclear
from proxy.rules import Rule
from specs import api
from specs.frames import PRODUCE, RequestHead
from specs.jsonform import to_json

FAR: Final = 4 << 10
"""Bytes of a body that are looked at; what is decided by more waits until the request is whole."""


class Familiar(NamedTuple):
    """A kind of request that passes unread, if it begins like the last one of its kind."""

    key: int
    version: int
    head: bytes
    """From the client id's length (byte 12) to the last field that somebody wants to know."""
    end: int
    """Where these bytes end in the frame, size field included."""
    least: int
    """The size that such a frame has at least: a request's header, and the bytes that it begins with."""
    answered: bool
    """False for Produce with acks=0."""


def familiar(head: RequestHead, view: memoryview | bytes, end: int | None) -> Familiar:
    """What passes from now on, after one request of which the bytes up to `end` (None: none) matter."""
    beginning = b"" if end is None else bytes(view[12:end])
    end = 12 + len(beginning)
    answered = head.acks != 0
    return Familiar(head.key, head.version, beginning, end, max(10, end - 4), answered)


def glance(
    rules: Collection[Rule],
    head: RequestHead,
    view: memoryview | bytes,
    have: int,
    broker: int | None,
    ordinal: int,
) -> int | None:
    """How many bytes of a frame show that none of these rules is about it.

    None if one is, or may be. The frame begins with its size; `have` bytes of it are here.
    """
    rules = [rule for rule in rules if rule.match.peer_matches(head.client_id, broker, ordinal)]
    names = {"acks"} if head.key == PRODUCE else set()
    if rules and gaps(head.key, head.version, "request"):
        return None  # names must be put back first
    for rule in rules:
        if rule.where is None or rule.where.roots is None or rule.match.needs_frame:
            return None
        names.update(rule.where.roots)
    start = 4 + head.body
    if not names:
        return start
    lead = api(head.key).request.codec(head.version).lead(*sorted(names))
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
