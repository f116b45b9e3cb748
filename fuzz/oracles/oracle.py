"""An oracle: a question about an observation, and what it says if something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from barnabas.fuzz.cases.case import Role
from barnabas.fuzz.cases.observation import Observation


@dataclass(frozen=True, slots=True)
class Verdict:
    """One thing that is wrong. behaviour: what tells it from other bugs and not from itself: the class
    of the exception and the frames of ours or theirs that raised it, an exit code, a field: no
    addresses, numbers or text of the case. Equal (oracle, behaviour) are one finding."""

    oracle: str
    what: str
    behaviour: tuple[str, ...]


class Oracle(NamedTuple):
    """`judge` is pure. roles: whose observations it can judge."""

    name: str
    about: str
    roles: frozenset[Role]
    judge: Callable[[Observation], Iterable[Verdict]]
