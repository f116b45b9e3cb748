"""Decides by the first fields of a request whether any rule matches it.

A condition on leading fields (`acks`, `timeout_ms`, `group_id`) is decided on the first bytes. If it does not
hold, the request passes unread. So does every later request of that API and version on the connection that
begins with the same bytes: `barnabas.proxy.connection.header_walk` only compares them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from barnabas.captures.kafka.context.name_completion import gaps
from barnabas.captures.kafka.expression import Unclear
from barnabas.proxy.rules.rule import Rule
from barnabas.specs import api
from barnabas.specs.frames import RequestHead
from barnabas.specs.jsonform import to_json
from barnabas.specs.keys import PRODUCE

MAX_PREFIX: Final = 8 << 10
"""The longest prefix in bytes that is remembered; with a longer one, each request is read."""

MAX_BODY_PREFIX: Final = 4 << 10
"""The bytes of a body that are read; if they do not decide, the request is collected."""


class KnownPrefix(NamedTuple):
    """The beginning of requests of one API and version that pass unread."""

    key: int
    version: int
    head: bytes
    """The bytes from the client id's length (byte 12) to the last deciding field."""
    end: int
    """The offset after these bytes in the frame, size field included."""
    sizes: range
    """The sizes with room for a header and these bytes that no rule matches."""
    answered: bool
    """Whether the broker responds; False for Produce with acks=0."""

    def resembles(self, view: memoryview | bytes, size: int) -> bool:
        """Return whether a request with this beginning and size passes unread; its header must be here."""
        return size in self.sizes and view[12 : self.end] == self.head


def known_prefix(
    head: RequestHead, view: memoryview | bytes, end: int | None, sizes: range
) -> KnownPrefix:
    """Return the prefix of requests that pass from now on, after one that no rule matched.

    Args:
        head: The request's header.
        view: Its first bytes.
        end: The offset up to which its bytes decide; None if no bytes after the header's ids do.
        sizes: The sizes that no rule matches.
    """
    beginning = b"" if end is None else bytes(view[12:end])
    end = 12 + len(beginning)
    sizes = range(max(10, end - 4, sizes.start), sizes.stop)
    return KnownPrefix(head.key, head.version, beginning, end, sizes, head.acks != 0)


def unmatched_sizes(rules: Collection[Rule], size: int, largest: int) -> range:
    """Return the sizes of frames around `size` that none of these rules matches.

    Args:
        rules: The rules, none of which matches `size`.
        size: A size without the size field, in bytes.
        largest: The largest size to return.

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
    """Return the number of a frame's first bytes that show that none of these rules matches.

    `view` has the first bytes of the frame, from its size on; `have` of them have arrived. None: a rule
    matches, or these bytes do not decide it.
    """
    api_version = head.key, head.version
    names = {"acks"} if head.key == PRODUCE else set()
    rules = [rule for rule in rules if rule.match.acks is None or head.acks in rule.match.acks]
    for rule in rules:
        undecided = rule.match.needs_body or rule.concerns
        if rule.where is None or rule.where.roots is None or undecided:
            return None
        names.update(rule.where.roots)
    if any(names.intersection((*gap.path, gap.name)) for gap in gaps(*api_version, "request")):
        return None  # names must be put back first
    start = 4 + head.body
    if not names and not rules:
        return start
    lead = api(head.key).request.codec(head.version).project_prefix(*sorted(names))
    prefix = lead(bytes(view[start : min(have, start + MAX_BODY_PREFIX)]))
    if prefix is None:
        return None
    values, length = prefix
    fields = to_json(values)
    try:
        if any(rule.where is not None and rule.where.holds(fields) for rule in rules):
            return None
    except Unclear:
        return None
    return start + length
