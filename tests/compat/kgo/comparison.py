"""Both runs, what differs once more, and what is said of it all. The runs themselves are handed in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from typing import Final

from barnabas.plural import plural
from tests.compat.kgo.outcomes import (
    ALL,
    Difference,
    Outcome,
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


def lines(found: Compared) -> Iterator[str]:
    """What there is to say: what differs and why, counts, and what is wrong."""
    first, behind = found.direct[0].run, found.through[0].ended.run
    for one in found.differ:
        yield f"{one.test}: {one.direct} directly, {one.through} through the proxy"
        for run, outcome in ((first, one.direct), (behind, one.through)):
            if outcome not in (Outcome.PASSED, Outcome.SKIPPED):
                yield f"  {outcome}: {run.reason(one.test)}"
    for one in found.again:
        yield f"{one.test}, once more: {one.direct} directly, {one.through} through the proxy"
    for test in neither(first, behind):
        yield f"{test} does not pass directly either: {first.reason(test)}"
    yield f"directly: {_in_words(found.direct[0])}"
    yield f"through the proxy: {_in_words(found.through[0].ended)}"
    for each in found.through:
        proxy = each.proxy
        counts = Counter(f"{check.name} ({finding.severity})" for check, finding in proxy.found)
        findings = ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none"
        yield (
            f"{plural(proxy.exchanges, 'exchange')} captured, {proxy.shown:,} shown, "
            f"{proxy.undecoded:,} not decoded; findings: {findings}"
        )
    wrong = found.complaints
    yield from wrong[:_SHOWN]
    if len(wrong) > _SHOWN:
        yield f"and {len(wrong) - _SHOWN:,} more"


def _in_words(ended: Ended) -> str:
    return f"{in_words(ended.run.counts())} ({ended.seconds:.0f} s)"
