"""The topics of a consumer, and its partitions: 0.7's topic counts and its ranges."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

Partition = tuple[str, str]
"""Topic and name; 0.7 names a partition by broker and number: "0-1"."""

PATTERN = 200
"""Characters of the longest pattern. Any client may send one: so it has no groups, and few repetitions."""

REPEATS = 3


@dataclass(frozen=True)
class Interest:
    """Topics with their numbers of streams, or a pattern with one number for all."""

    streams: tuple[tuple[str, int], ...] = ()
    pattern: str | None = None
    black: bool = False
    count: int = 1

    def of(self, topic: str) -> int:
        """Return the number of streams of a topic; 0: the consumer does not subscribe to it."""
        if self.pattern is None:
            return dict(self.streams).get(topic, 0)
        matches = re.fullmatch(self.pattern, topic) is not None
        return self.count if matches != self.black else 0


def parse(text: str) -> Interest:
    """Parse a topic_count. Raises ValueError."""
    match = re.fullmatch(r"([*!])(\d{1,4})\1(.+)", text)
    if match:
        kind, count, pattern = match.groups()
        repeats = len(re.findall(r"[*+?{]", pattern))
        if len(pattern) > PATTERN or repeats > REPEATS or "(" in pattern:
            raise ValueError(f"the pattern {pattern[:PATTERN]!r} may take too long to match")
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as problem:
            raise ValueError(f"the pattern {pattern!r}: {problem}") from None
        return Interest(pattern=pattern, black=kind == "!", count=int(count))
    try:
        row = json.loads(text)
    except RecursionError:
        raise ValueError("no topic_count") from None
    if not isinstance(row, dict) or not all(
        type(count) is int and 0 < count <= 9999 for count in row.values()
    ):
        raise ValueError("no topic_count: topic -> streams is needed")
    return Interest(tuple(sorted(row.items())))


def assign(
    consumers: Sequence[tuple[str, Interest]], topics: Mapping[str, Sequence[str]]
) -> dict[str, list[Partition]]:
    """Assign each topic in ranges over all streams, the first ones with one more (as in 0.7).

    >>> assign([("a", parse('{"t": 2}')), ("b", parse('{"t": 1}'))], {"t": ["0-0", "0-1", "1-0"]})
    {'a': [('t', '0-0'), ('t', '0-1')], 'b': [('t', '1-0')]}
    """
    ordered = sorted(consumers, key=itemgetter(0))
    owned: dict[str, list[Partition]] = {name: [] for name, _ in ordered}
    for topic, names in sorted(topics.items()):
        partitions = sorted(names)
        most = len(partitions)  # more streams than that have nothing to do
        streams = [name for name, wants in ordered for _ in range(min(most, wants.of(topic)))]
        at = 0
        for number, name in enumerate(streams):
            share = most // len(streams) + (number < most % len(streams))
            owned[name] += [(topic, partition) for partition in partitions[at : at + share]]
            at += share
    return owned
