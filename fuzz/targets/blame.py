"""Which case of a batch is to blame: the batch is halved until one alone gives the same trouble.

Pure: `perform` runs cases, `trouble` says what is wrong with the target after them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fuzz.case import Case
from fuzz.observation import Death, Observation, Probe


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with a target after some cases, that no single one of them shows."""

    probe: Probe | None = None
    death: Death | None = None
    log: tuple[str, ...] = ()
    rss: tuple[int, int] | None = None


def settle(
    cases: Sequence[Case],
    perform: Callable[[Sequence[Case]], list[Observation]],
    trouble: Callable[[], Trouble | None],
) -> list[Observation]:
    """An observation of each case, in order; trouble is with the case that makes it alone. If none
    does, it is with the last case of the smallest part that did, and a fact names all of that."""
    found = perform(cases)
    wrong = trouble()
    if wrong is None:
        return found
    if len(cases) == 1:
        return [blamed(found[0], wrong)]
    middle = len(cases) // 2
    parts = [settle(cases[:middle], perform, trouble), settle(cases[middle:], perform, trouble)]
    halves = parts[0] + parts[1]
    if any(_troubled(one) for one in halves):
        return halves
    together = ("together", [case.number for case in cases])
    last = blamed(halves[-1], wrong)
    return [*halves[:-1], replace(last, facts=(*last.facts, together))]


def blamed(observation: Observation, trouble: Trouble) -> Observation:
    """The observation of a case that is to blame."""
    return replace(
        observation,
        probe=trouble.probe or observation.probe,
        death=trouble.death,
        log=observation.log + trouble.log,
        rss=trouble.rss or observation.rss,
        facts=(*observation.facts, ("blamed", True)),
    )


def _troubled(observation: Observation) -> bool:
    return any(name == "blamed" for name, _ in observation.facts)
