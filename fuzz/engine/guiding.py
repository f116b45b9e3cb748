"""Lines of brokers as feedback: what a case reaches that nothing has reached before is a feature of it.
Clients tell it behind each session (`barnabas.fuzz.coverage.agent.Counted`).

The probes of all JVMs are read behind every few cases. Where some are new, those cases are run again one by
one, and a probe is of the first that passes it then: a broker does much that is of no case. So a campaign is
slower by what reading takes, and the most at its beginning, when much is new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import REACHED, Observation
from barnabas.fuzz.coverage.probes import Key, Told, feature, fresh, merge
from barnabas.fuzz.targets.target import Runs

EVERY: Final = 16
"""Cases behind which probes are read."""


class Guided:
    """A target that is running, which tells what was new. since: the probes that were passed since it was
    last called. known: those that are no news."""

    def __init__(self, target: Runs, since: Callable[[], Told], known: Told) -> None:
        self._target, self._since = target, since
        self._known = dict(known)

    @property
    def at_once(self) -> int:
        """As the target has it."""
        return self._target.at_once

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases in order."""
        for start in range(0, len(cases), EVERY):
            some = cases[start : start + EVERY]
            found = list(self._target.run(some))
            whose = self._whose(some, self._news())
            for one in found:
                new = whose.pop(one.case.number, ())
                yield replace(one, facts=(*one.facts, (REACHED, new))) if new else one

    def _news(self) -> dict[Key, int]:
        """Probes that are new, as bits."""
        told = self._since()
        new = fresh(told, self._known)
        merge(self._known, told)
        return new

    def _whose(self, cases: Sequence[Case], news: dict[Key, int]) -> dict[int, list[str]]:
        """A case's number -> what it reached of the news."""
        found: dict[int, list[str]] = {}
        for case in cases:
            if not news:
                break
            for _ in self._target.run([case]):
                pass
            told = self._since()
            merge(self._known, told)
            for key, (passed, _) in told.items():
                if mine := news.get(key, 0) & passed:
                    found.setdefault(case.number, []).append(feature(key, mine))
                    news[key] &= ~mine
                    if not news[key]:
                        del news[key]
        return found
