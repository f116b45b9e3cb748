"""The interface of oracles: a function that judges an observation, and its verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from barnabas.fuzz.cases.case import Role
from barnabas.fuzz.cases.observation import TOGETHER, UNDER_WAY, Observation

OF_REPLIES: Final = frozenset(
    ("clients-differ", "closing", "differing", "responses", "server_error", "silent", "unanswered")
)
"""Oracles that judge the responses to a case itself, whatever else it is blamed for."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One problem of an observation. Verdicts with equal oracle and behaviour are one finding.

    Attributes:
        oracle: The oracle's name.
        message: The problem.
        behaviour: What tells the bug from others: the class of an exception and the frames that raised it, an
            exit code, a field. No addresses, numbers or text of the case.
    """

    oracle: str
    message: str
    behaviour: tuple[str, ...]


class Oracle(NamedTuple):
    """A function that judges observations.

    Attributes:
        name: The oracle's name.
        description: For lists.
        roles: The kinds of targets whose observations it can judge.
        judge: The function, which is pure.
        expects: The correct reaction.
    """

    name: str
    description: str
    roles: frozenset[Role]
    judge: Callable[[Observation], Iterable[Verdict]]
    expects: str


def alone(oracle: str, observation: Observation) -> bool:
    """Return whether a verdict is about this case alone, and not about several together."""
    return oracle in OF_REPLIES or not observation.shared


def case_label(oracle: str, observation: Observation) -> str:
    """Return the case that showed a verdict, for reports.

    If only several cases showed it, the last is named as such. If no search was possible, all suspects are
    named.

    >>> from barnabas.fuzz.cases.case import Case, Recipe, Seed
    >>> case = Case(7, Recipe(Seed(3, 9, "request", b"", ""), ()), ())
    >>> shared = Observation(case, facts=(("together", [6, 7]),))
    >>> case_label("logged", Observation(case)), case_label("logged", shared), case_label("closing", shared)
    ('case 7', 'not attributable to one case; first seen after case 7', 'case 7')
    >>> facts = ("together", [6, 7]), ("under_way", ["case 6", "case 7"])
    >>> case_label("died", Observation(case, facts=facts))
    'one of the cases 6, 7'
    """
    number = f"case {observation.case.number}"
    if alone(oracle, observation):
        return number
    facts = dict(observation.facts)
    numbers = facts.get(TOGETHER)
    if UNDER_WAY in facts and isinstance(numbers, list):
        return f"one of the cases {', '.join(map(str, numbers))}"
    return f"not attributable to one case; first seen after {number}"
