"""Format the parts of a log line: numbers, bounded lists, partitions, ids."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from barnabas.plural import plural
from barnabas.specs.jsonform import uuid_text

WIDTH: Final = 100
"""Characters of the longest description of an exchange."""

NAME: Final = 8
"""Characters to which names are shortened before other text is cut."""

WORD: Final = 12
"""Longer names may be shortened; anything up to this length may be a word of barnabas."""

_BETWEEN: Final = r"\s\[\](),="
_NAMES: Final = re.compile(
    rf"(?<![^{_BETWEEN}])(?!\d+(?:[{_BETWEEN}]|$))[^{_BETWEEN}]{{{WORD + 1},}}"
)
"""Text between such signs that is longer than WORD, except numbers."""

LIST: Final = 64
"""Characters after which a list of topics, groups ... stops and the rest is counted."""

Body = dict[str, Any]

Names = Mapping[uuid.UUID, str]
"""Topic names by topic id."""


def printable(text: str) -> str:
    r"""Replace everything that moves a terminal's cursor, since names come from untrusted clients.

    >>> printable("a\x1b[2Jb")
    'a�[2Jb'
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def shorten(text: str, width: int) -> str:
    """Cut text to `width` characters; an ellipsis marks the cut.

    >>> shorten("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= width else text[: width - 1].rstrip("…") + "…"


def middle(text: str, width: int) -> str:
    """Cut text to `width` characters before its end, by which names differ.

    >>> middle("consumer-readers-of-orders-1", 16)
    'consumer-r…ers-1'
    """
    if len(text) <= width:
        return text
    tail = (width - 1) // 3
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"


def fit(text: str, width: int) -> str:
    """Cut text to `width` characters: first shorten the longest names, down to NAME; then cut the end.

    >>> fit("the-service-that-bills-all-orders orders[0=50,1=80] earliest", 44)
    'the-service…rders orders[0=50,1=80] earliest'
    """
    over = len(text) - width
    if over <= 0:
        return text
    sizes = sorted((len(name) for name in _NAMES.findall(text)), reverse=True)
    least = NAME
    for count in range(1, len(sizes) + 1):  # the `count` longest names get the same length
        level = (sum(sizes[:count]) - over) // count
        if level >= max([NAME, *sizes[count : count + 1]]):
            least = level
            break
    return shorten(_NAMES.sub(lambda match: middle(match[0], least), text), width)


def size(count: int) -> str:
    """Format a number of bytes.

    >>> size(500), size(3482), size(5_000_000)
    ('500 B', '3.4 KiB', '4.8 MiB')
    """
    if count < 1024:
        return f"{count} B"
    return f"{count / 1024:.1f} KiB" if count < 1024 * 1024 else f"{count / 1024 / 1024:.1f} MiB"


def listed(items: Iterable[str], noun: str, width: int = LIST, between: str = " ") -> str:
    """Join the items that fit into `width` characters, and count the others.

    >>> listed(["orders", "payments", "returns"], "topic", 16)
    'orders payments ... +1 topic'
    """
    out: list[str] = []
    room = width
    rest = iter(items)
    for item in rest:
        room -= len(item) + len(between)
        if room < 0 and out:
            return f"{between.join(out)} ... +{plural(1 + sum(1 for _ in rest), noun)}"
        out.append(fit(item, width))
    return between.join(out)


def ranges(numbers: Iterable[int]) -> str:
    """Format partitions, with runs of three and more as a range.

    >>> ranges([7, 6, 5, 2, 1])
    '1,2,5-7'
    """
    out: list[list[int]] = []
    for number in sorted(numbers):
        if out and number == out[-1][-1] + 1:
            out[-1] = [out[-1][0], number]
        else:
            out.append([number])
    texts = (
        "-".join(map(str, run)) if run[-1] - run[0] > 1 else ",".join(map(str, run)) for run in out
    )
    return shorten(",".join(texts), LIST // 2)


def pairs(values: Iterable[tuple[int, Any]]) -> str:
    """Format partitions with a value each: 0=120,1=80."""
    return shorten(",".join(f"{partition}={value}" for partition, value in values), LIST // 2)


def topic_name(topic: Body, names: Names, most: int | None = 8) -> str:
    """Return the name of a topic in a message, or the first `most` characters of its id (None: all)."""
    name = topic.get("name") or topic.get("topic")
    if name:
        return str(name)
    topic_id = topic.get("topic_id")
    return "" if topic_id is None else names.get(topic_id) or uuid_text(topic_id)[:most]


def partitions_of(
    topics: list[Body] | None, inner: str, names: Names, of: Callable[[Any], str]
) -> str:
    """Format topics with their partitions: orders[0,2] payments[1].

    `of` formats the list at `inner` in each topic.
    """
    return listed(
        (f"{topic_name(topic, names)}[{of(topic.get(inner) or ())}]" for topic in topics or ()),
        "topic",
    )


def group_name(group: str) -> str:
    """Format a group's name, which may be empty.

    >>> group_name("g"), group_name("")
    ('g', "''")
    """
    return group or "''"


def member_name(member: str | None) -> str:
    """Format a member id: of `name-uuid` the first digits of the uuid."""
    if not member:
        return "new member"
    tail = member[-36:]
    if len(tail) == 36 and tail.count("-") == 4:
        return f"member {tail[:8]}"
    return f"member {shorten(member, 16)}"


def arrow(request: str, response: str) -> str:
    """Join a description of a request and of its response with an arrow; either may be empty."""
    return (
        f"{request} → {response}"
        if request and response
        else request or (f"→ {response}" if response else "")
    )


def joined(*words: str) -> str:
    """Join the words that are not empty with spaces."""
    return " ".join(word for word in words if word)
