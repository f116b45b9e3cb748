"""The expectation that a program writes one record for each record that it reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, Self

from barnabas.experiments.explore.finding import Finding, finding
from barnabas.experiments.explore.history import Consumed, History, OffsetCommitted, Sent
from barnabas.experiments.explore.log import Log


class Expectation(NamedTuple):
    """The expectation that each record of a topic has one record with the same id in another topic."""

    source: str
    output: str
    at_least_once: bool = False
    """Whether more than one record is fine."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `SOURCE:OUTPUT` or `SOURCE:OUTPUT:at-least-once`.

        >>> Expectation.parse("orders:invoices-{run}:at-least-once").output
        'invoices-{run}'

        Raises:
            ValueError: The text is neither.
        """
        form = r"([^:]+):([^:]+?)(:at-least-once)?"
        match = re.fullmatch(form, text)
        if match is None or match[1] == match[2]:
            raise ValueError(
                f"{text!r} is no expectation: use SOURCE:OUTPUT or SOURCE:OUTPUT:at-least-once, "
                "with the names of two topics"
            )
        return cls(match[1], match[2], match[3] is not None)

    def __str__(self) -> str:
        return f"{self.source}:{self.output}{':at-least-once' * self.at_least_once}"

    def of_run(self, run: str) -> Self:
        """Return the expectation with the token of a run in the names of topics."""
        source, output = (name.replace("{run}", run) for name in (self.source, self.output))
        return self._replace(source=source, output=output)


def observed(history: History, run: str) -> tuple[Expectation, ...]:
    """Return the expectations that a run without faults suggests.

    Each record that was consumed from a topic was then sent to another topic, with the same id. Fewer than
    two records suggest nothing.

    Args:
        history: The history of the run.
        run: The token of the run, which becomes `{run}` in the names of topics.
    """
    consumed: dict[str, dict[str, int]] = {}
    sent: dict[str, dict[str, int]] = {}
    for ordinal, event in enumerate(history.events):
        if isinstance(event, Consumed):
            consumed.setdefault(event.topic, {}).setdefault(event.id, ordinal)
        elif isinstance(event, Sent):
            sent.setdefault(event.topic, {}).setdefault(event.id, ordinal)
    return tuple(
        Expectation(source.replace(run, "{run}"), output.replace(run, "{run}"), at_least_once=True)
        for source, received in consumed.items()
        for output, written in sent.items()
        if source != output
        and len(received) > 1
        and all(written.get(name, -1) > ordinal for name, ordinal in received.items())
    )


def outputs(
    expectation: Expectation, history: History, log: Log, source: Log, *, finished: bool
) -> Iterator[Finding]:
    """Yield the findings of kinds `not in output` and `twice in output`.

    The records that need an output are those that the history calls consumed; if it has none of the source
    topic, all records of `source`. A program that ended with a failure need not have come to the last
    records: it owes the outputs of records whose offsets were committed. A record that the history calls
    failed in the output topic needs no output.

    Args:
        expectation: The topics.
        history: The program's history, empty if there is none.
        log: The records that the run wrote.
        source: The records of the source topic.
        finished: Whether the program ended well.
    """
    consumed = {
        (event.partition, event.offset): event
        for event in history.consumed
        if event.topic == expectation.source
    }
    ids = [event.id for event in consumed.values()] or [
        record.id for record in source.not_aborted if record.topic == expectation.source
    ]
    due = Counter(ids)
    if not finished:
        due = Counter(event.id for event in consumed.values() if _is_committed(event, history))
    written = Counter(record.id for record in log.not_aborted if record.topic == expectation.output)
    if finished and not due:
        text = f"no record of {expectation.source} was consumed"
        yield Finding(kind="not in output", text=text, count=0)
    missing = [
        name
        for name, count in due.items()
        if written[name] < count and (expectation.output, name) not in history.failed
    ]
    if missing:
        text = f"of {expectation.source} without a record in {expectation.output}"
        yield finding("not in output", missing, text)
    repeated = [name for name, count in Counter(ids).items() if written[name] > count]
    if repeated and not expectation.at_least_once:
        text = f"of {expectation.source} more than once in {expectation.output}"
        yield finding("twice in output", repeated, text)


def _is_committed(event: Consumed, history: History) -> bool:
    """Return whether the consumer's group committed an offset after the record."""
    group = history.consumer(event.consumer).group
    return any(
        isinstance(commit, OffsetCommitted)
        and (commit.group, commit.topic, commit.partition) == (group, event.topic, event.partition)
        and commit.offset > event.offset
        for commit in history.events
    )
