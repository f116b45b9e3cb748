"""The small words of a log line: numbers, lists that stop, partitions, ids."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from barnabas.plural import plural
from barnabas.specs.jsonform import uuid_text

WIDTH: Final = 100
"""The longest text about an exchange, in characters."""

NAME: Final = 8
"""A name is not made shorter than that, in characters, before other things are left out."""

WORD: Final = 12
"""What has no more characters may be a word of ours, and stays whole."""

_BETWEEN: Final = r"\s\[\](),="
_NAMES: Final = re.compile(
    rf"(?<![^{_BETWEEN}])(?!\d+(?:[{_BETWEEN}]|$))[^{_BETWEEN}]{{{WORD + 1},}}"
)
"""What stands between such signs and is longer, but for numbers."""

LIST: Final = 64
"""Where a list of topics, groups ... stops and the rest is counted, in characters."""

Body = dict[str, Any]

Names = Mapping[uuid.UUID, str]
"""What the topics of some ids are called."""


def printable(text: str) -> str:
    """The text without anything that moves a terminal's cursor: names come from strangers.

    >>> printable("a\\x1b[2Jb")
    'a�[2Jb'
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def shorten(text: str, width: int) -> str:
    """At most `width` characters, the last of them an ellipsis if some are missing.

    >>> shorten("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= width else text[: width - 1].rstrip("…") + "…"


def middle(text: str, width: int) -> str:
    """At most `width` characters: what is too much is left out before the end, by which names differ.

    >>> middle("consumer-readers-of-orders-1", 16)
    'consumer-r…ers-1'
    """
    if len(text) <= width:
        return text
    tail = (width - 1) // 3
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"


def fit(text: str, width: int) -> str:
    """At most `width` characters: the longest names get shorter first, down to NAME; then the end goes.

    >>> fit("the-service-that-bills-all-orders orders[0=50,1=80] earliest", 44)
    'the-service…rders orders[0=50,1=80] earliest'
    """
    over = len(text) - width
    if over <= 0:
        return text
    sizes = sorted((len(name) for name in _NAMES.findall(text)), reverse=True)
    least = NAME
    for count in range(1, len(sizes) + 1):  # so many names get as short as each other
        level = (sum(sizes[:count]) - over) // count
        if level >= max([NAME, *sizes[count : count + 1]]):
            least = level
            break
    return shorten(_NAMES.sub(lambda found: middle(found[0], least), text), width)


def size(count: int) -> str:
    """A number of bytes, short.

    >>> size(500), size(3482), size(5_000_000)
    ('500 B', '3.4 KiB', '4.8 MiB')
    """
    if count < 1024:
        return f"{count} B"
    return f"{count / 1024:.1f} KiB" if count < 1024 * 1024 else f"{count / 1024 / 1024:.1f} MiB"


def listed(items: Iterable[str], what: str, width: int = LIST, between: str = " ") -> str:
    """The items that fit, and how many more there are.

    >>> listed(["orders", "payments", "returns"], "topic", 16)
    'orders payments ... +1 topic'
    """
    out: list[str] = []
    room = width
    rest = iter(items)
    for item in rest:
        room -= len(item) + len(between)
        if room < 0 and out:
            return f"{between.join(out)} ... +{plural(1 + sum(1 for _ in rest), what)}"
        out.append(fit(item, width))
    return between.join(out)


def ranges(numbers: Iterable[int]) -> str:
    """Partitions, with runs of three and more as a range.

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
    """Partitions and what each of them has: 0=120,1=80."""
    return shorten(",".join(f"{partition}={value}" for partition, value in values), LIST // 2)


def topic_name(topic: Body, names: Names, most: int | None = 8) -> str:
    """The name of a topic in a message, or the start of its id: so many characters; None: all of it."""
    name = topic.get("name") or topic.get("topic")
    if name:
        return str(name)
    found = topic.get("topic_id")
    return "" if found is None else names.get(found) or uuid_text(found)[:most]


def partitions_of(
    topics: list[Body] | None, inner: str, names: Names, of: Callable[[Any], str]
) -> str:
    """Topics with what `of` says of the list at `inner` in each: orders[0,2] payments[1]."""
    return listed(
        (f"{topic_name(topic, names)}[{of(topic.get(inner) or ())}]" for topic in topics or ()),
        "topic",
    )


def group_name(group: str) -> str:
    """A group's name as a word: the empty one is a name, too.

    >>> group_name("g"), group_name("")
    ('g', "''")
    """
    return group or "''"


def member_name(member: str | None) -> str:
    """A member's id, short: of `name-uuid` the first digits of the uuid."""
    if not member:
        return "new member"
    tail = member[-36:]
    if len(tail) == 36 and tail.count("-") == 4:
        return f"member {tail[:8]}"
    return f"member {shorten(member, 16)}"


def arrow(asked: str, came: str) -> str:
    """What was asked and what came back; either may be empty."""
    return f"{asked} → {came}" if asked and came else asked or (f"→ {came}" if came else "")


def joined(*words: str) -> str:
    """The words that are not empty, with spaces between."""
    return " ".join(word for word in words if word)
