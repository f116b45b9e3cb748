"""Both runs, what differs once more, and what is said of it all. The runs themselves are handed in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from barnabas.captures.checks.finding import SEVERITIES
from barnabas.plural import plural
from tests.compat.kgo.outcomes import (
    ALL,
    Difference,
    GoTest,
    Outcome,
    Run,
    differences,
    in_words,
    neither,
    pattern,
)
from tests.compat.kgo.suite import Ended
from tests.compat.processes import RunningProxy

FOUND: Final = (
    # of members that are busy when the group rebalances: many clients on few cores
    r"joins: group \w+: the rebalance to generation \d+ took [\d.]+ s; .*",
    # a broker of 4.x names itself as the leader in the answer that refuses a produce to a partition that it
    # is about to make, and the client goes by that name at once (KIP-951), time and again
    r"backoff: Produce was retried \d+ times in a row after NOT_LEADER_OR_FOLLOWER, .*",
    # TestIssue434 deletes a topic that is consumed; the client asks for it until it believes that, for 15 s
    r"fetch_loops: Fetch of \w+\[\d+\] failed \d+ times in a row with UNKNOWN_TOPIC_OR_PARTITION",
)
"""What checks find in the suite's traffic, and rightly so, as patterns."""

_SHOWN: Final = 20


@dataclass(slots=True)
class Through:
    """A run behind the proxy that is over."""

    ended: Ended
    proxy: RunningProxy
    bypassed: Set[str] = frozenset()
    """Addresses of brokers that the tests were connected to themselves."""


@dataclass(slots=True)
class Compared:
    """Both runs. What differed was run once more; those runs are in `direct[1:]` and `through[1:]`."""

    direct: list[Ended] = field(default_factory=list)
    through: list[Through] = field(default_factory=list)
    differ: list[Difference] = field(default_factory=list)
    """At the first attempt."""
    again: list[Difference] = field(default_factory=list)
    """At the second one."""

    @property
    def complaints(self) -> list[str]:
        """All that is wrong beside tests that differ."""
        wrong = [
            f"the tests went round the proxy, to {address}"
            for one in self.through
            for address in sorted(one.bypassed)
        ]
        for one in self.through:
            wrong += one.proxy.complaints
            wrong += [what for what in one.proxy.findings if not known(what)]
        if not self.through or not self.through[0].proxy.exchanges:
            wrong.append("nothing passed through the proxy")
        if not self.direct or not self.direct[0].run.counts()[Outcome.PASSED]:
            wrong.append("no test passed directly")
        return wrong

    @property
    def fine(self) -> bool:
        """Whether all ended in the same way, was read, and shows nothing that is not known."""
        return not self.again and not self.complaints


def known(finding: str) -> bool:
    """Whether it is one of those in FOUND."""
    return any(re.fullmatch(text, finding) for text in FOUND)


def compared(
    direct: Callable[[str], Ended],
    through: Callable[[str], Through],
    only: str,
    say: Callable[[str], None],
) -> Compared:
    """Run what a pattern selects on both sides, and what differs once more."""
    found = Compared()

    def both(which: str) -> list[Difference]:
        one = direct(which)
        found.direct.append(one)
        say(f"directly: {_in_words(one)}")
        other = through(which)
        found.through.append(other)
        say(f"through the proxy: {_in_words(other.ended)}")
        return differences(one.run, other.ended.run)

    found.differ = both(only)
    if found.differ:
        which = pattern(one.test for one in found.differ)
        say(f"once more, since they differ: {which}")
        found.again = both(only if which == ALL else which)
    return found


def table(found: Compared) -> Table:
    """The tests that differed, at either attempt."""
    rows = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("test", "directly", "through the proxy", "once more"):
        rows.add_column(name)
    second = {one.test: one for one in found.again}
    for test in sorted({one.test: one for one in (*found.differ, *found.again)}):
        again = second.get(test)
        rows.add_row(
            Text(str(test)),
            _end(found.direct[0].run, test),
            _end(found.through[0].ended.run, test),
            "the same" if again is None else f"{again.direct}, {again.through}",
        )
    return rows


def lines(found: Compared) -> Iterator[str]:
    """What there is to say beside the table: reasons, counts, and what is wrong."""
    for test in [one.test for one in found.differ]:
        for side, run in (
            ("directly", found.direct[0].run),
            ("through the proxy", found.through[0].ended.run),
        ):
            if _end(run, test) not in (Outcome.PASSED, Outcome.SKIPPED):
                yield f"{test}, {side}: {run.reason(test)}"
    first = found.direct[0].run
    for test in neither(first, found.through[0].ended.run):
        yield f"{test} does not pass directly either: {first.reason(test)}"
    yield f"directly: {_in_words(found.direct[0])}"
    yield f"through the proxy: {_in_words(found.through[0].ended)}"
    same = len(found.differ) - len(found.again)
    yield f"{plural(len(found.differ), 'test')} differed, {max(same, 0)} of them not when run once more"
    for one in found.through:
        proxy = one.proxy
        yield (
            f"{plural(proxy.exchanges, 'exchange')} captured, {proxy.shown:,} shown, "
            f"{proxy.undecoded:,} not decoded; findings: {_findings(proxy)}"
        )
    wrong = found.complaints
    yield from wrong[:_SHOWN]
    if len(wrong) > _SHOWN:
        yield f"and {len(wrong) - _SHOWN:,} more"


def _in_words(ended: Ended) -> str:
    return f"{in_words(ended.run.counts())} ({ended.seconds:.0f} s)"


def _end(run: Run, test: GoTest) -> Outcome:
    return run.outcomes.get(test, Outcome.ABSENT)


def _findings(proxy: RunningProxy) -> str:
    """How many each check had, the worst first; those that are known are said to be."""
    counts = Counter((check.name, finding.severity) for check, finding in proxy.found)
    expected = Counter(
        check.name for check, finding in proxy.found if known(f"{check.name}: {finding.what}")
    )
    said = []
    for severity in SEVERITIES:
        for (name, how_bad), count in sorted(counts.items()):
            if how_bad == severity:
                said.append(f"{name} {plural(count, severity)}")
    if expected:
        said.append(f"{expected.total()} of these known")
    return ", ".join(said) or "none"
