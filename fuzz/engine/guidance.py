"""Lines of brokers as feedback: new lines that a case reaches are its features.

The probes of all JVMs are read after every few cases. If some are new, these cases run again one by one, and
a probe belongs to the first case that passes it then: a broker also does work that no case asked for. A
campaign is slower by these reads, most of all at its beginning, when much is new. Clients report lines after
each session (`barnabas.fuzz.coverage.agent.CountedProcess`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import REACHED, Observation
from barnabas.fuzz.coverage.probes import Key, ProbeReport, feature, fresh, merge
from barnabas.fuzz.targets.target import CaseRunner

EVERY: Final = 16
"""Cases between two reads of the probes."""


class GuidedTarget:
    """A running target that adds the fact REACHED to cases which reach new lines.

    since: returns the probes passed since the last call. known: probes that are not new.
    """

    def __init__(
        self, target: CaseRunner, since: Callable[[], ProbeReport], known: ProbeReport
    ) -> None:
        self._target, self._since = target, since
        self._known = dict(known)

    @property
    def at_once(self) -> int:
        """Return the number of cases that the target is best given at once."""
        return self._target.at_once

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases in order."""
        for start in range(0, len(cases), EVERY):
            some = cases[start : start + EVERY]
            observations = list(self._target.run(some))
            new_lines = self._whose(some, self._news())
            for observation in observations:
                new = new_lines.pop(observation.case.number, ())
                yield (
                    replace(observation, facts=(*observation.facts, (REACHED, new)))
                    if new
                    else observation
                )

    def _news(self) -> dict[Key, int]:
        """Return the new probes as bits."""
        report = self._since()
        new = fresh(report, self._known)
        merge(self._known, report)
        return new

    def _whose(self, cases: Sequence[Case], news: dict[Key, int]) -> dict[int, list[str]]:
        """Return what each case, by number, reached of the new probes."""
        reached: dict[int, list[str]] = {}
        for case in cases:
            if not news:
                break
            for _ in self._target.run([case]):
                pass
            report = self._since()
            merge(self._known, report)
            for key, (passed, _) in report.items():
                if mine := news.get(key, 0) & passed:
                    reached.setdefault(case.number, []).append(feature(key, mine))
                    news[key] &= ~mine
                    if not news[key]:
                        del news[key]
        return reached
