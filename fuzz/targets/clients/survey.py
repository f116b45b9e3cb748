"""What a client asks for: sessions in which nothing is wrong, with one version offered after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from barnabas.fuzz.answering.offer import EVERYTHING, Offer, narrowed
from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.targets.clients.workloads import SURVEYED, WORKLOADS, chosen

SURVEYS: Final = 2
"""How often all workloads are gone through in vain for an API that is new: some end early."""


class Survey:
    """Of one client. session: runs a valid one, says what was asked for. each: it is a command, which has one
    workload and is started for each session."""

    def __init__(
        self, name: str, session: Callable[[str, Offer], set[tuple[int, int]]], *, each: bool
    ) -> None:
        self._name, self._session, self._each = name, session, each
        self._asks: dict[str, set[tuple[int, int]]] = {}
        """Workload -> the APIs and versions that are asked for in it."""

    def know(self) -> None:
        """Have it run, if it has not. Raises CannotRun as `newest` does."""
        if not self._asks:
            self.newest()

    def newest(self) -> dict[int, int]:
        """API key -> the newest version that it asks for. Raises CannotRun if it asks nothing."""
        newest: dict[int, int] = {}
        in_vain = 0
        while in_vain < (1 if self._each else SURVEYS):
            before = len(newest)
            for workload, offer in (("any", EVERYTHING),) if self._each else SURVEYED:
                for key, version in sorted(self._session(workload, offer)):
                    newest[key] = max(version, newest.get(key, 0))
                    self._asks.setdefault(workload, set()).add((key, version))
            in_vain = 0 if len(newest) > before else in_vain + 1
        if not newest:
            raise CannotRun(f"{self._name} sent no request to the broker; is it a Kafka client?")
        return newest

    def versions(self, newest: Mapping[int, int] | None = None) -> frozenset[tuple[int, int]]:
        """The (API key, version) that it asks for. newest: API key -> the newest version of interest, for who
        knows it already. Raises CannotRun if no session with it works at all."""
        found = set()
        own = self.newest() if newest is None else newest
        for key, version in own.items():
            if newest is None:
                found.add((key, version))
            for older in range(EVERYTHING.get(key, (version,))[0], version + (newest is not None)):
                workload = chosen(key, older, self._asks)
                if (key, older) in self._session(workload, narrowed(key, older)):
                    found.add((key, older))
        return frozenset(found)

    def workload(self, case: Case) -> str:
        """The one in which it asks for a case's answer."""
        seed, session = case.recipe.seed, case.recipe.session
        if session in WORKLOADS:
            return session
        self.know()
        return chosen(seed.key, seed.version, self._asks)
