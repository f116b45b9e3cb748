"""An oracle: a question about an observation, and what it says if something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from barnabas.fuzz.cases.case import Role
from barnabas.fuzz.cases.observation import TOGETHER, UNDER_WAY, Observation

OF_REPLIES: Final = frozenset(
    ("clients-differ", "closing", "differing", "responses", "server_error", "silent", "unanswered")
)
"""Oracles of what a case itself was answered, whatever it is blamed for beside that."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One thing that is wrong. behaviour: what tells it from other bugs and not from itself: the class
    of the exception and the frames of ours or theirs that raised it, an exit code, a field: no
    addresses, numbers or text of the case. Equal (oracle, behaviour) are one finding."""

    oracle: str
    what: str
    behaviour: tuple[str, ...]


class Oracle(NamedTuple):
    """`judge` is pure. roles: whose observations it can judge. expects: what would have been right."""

    name: str
    about: str
    roles: frozenset[Role]
    judge: Callable[[Observation], Iterable[Verdict]]
    expects: str


def alone(oracle: str, observation: Observation) -> bool:
    """Whether what an oracle says of an observation is of its one case, and not of several together."""
    return oracle in OF_REPLIES or not observation.shared


def whose(oracle: str, observation: Observation) -> str:
    """The case that showed it; of what several showed, and none of them alone, the last is named as such.
    Where nobody could look further, all are named that it may be.

    >>> from barnabas.fuzz.cases.case import Case, Recipe, Seed
    >>> case = Case(7, Recipe(Seed(3, 9, "request", b"", ""), ()), ())
    >>> shared = Observation(case, facts=(("together", [6, 7]),))
    >>> whose("logged", Observation(case)), whose("logged", shared), whose("closing", shared)
    ('case 7', 'no one case, behind case 7', 'case 7')
    >>> whose("died", Observation(case, facts=(("together", [6, 7]), ("under_way", ["case 6", "case 7"]))))
    'one of the cases 6, 7'
    """
    number = f"case {observation.case.number}"
    if alone(oracle, observation):
        return number
    facts = dict(observation.facts)
    several = facts.get(TOGETHER)
    if UNDER_WAY in facts and isinstance(several, list):
        return f"one of the cases {', '.join(map(str, several))}"
    return f"no one case, behind {number}"
