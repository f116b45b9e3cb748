"""The connections of a broker target, and the cases that go over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.targets.connections import Connections, Counts
from barnabas.fuzz.targets.entries import Logged
from barnabas.fuzz.targets.flow import Flow
from barnabas.peers.replay.authentication import Credentials


class Lanes:
    """Connections to one address. patience: seconds for an answer; count: connections at once; who: logs
    in on each, if somebody has to; log: what the broker's log gained since it was last asked."""

    def __init__(
        self,
        count: int = 32,
        patience: float = 0.3,
        who: Credentials | None = None,
        log: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self._who = who
        self._log = log
        self.connections = Connections(count)
        self.offered: dict[int, tuple[int, int]] = {}
        """API key -> versions that the broker takes; empty: not known."""
        self._patience = patience

    @property
    def counts(self) -> Counts:
        """What became of the connections."""
        return self.connections.counts

    def offers(self, key: int, version: int) -> bool:
        """Whether the broker takes an API's version, as far as is known."""
        low, high = self.offered.get(key, (0, -1))
        return not self.offered or low <= version <= high

    def aim(self, address: tuple[str, int]) -> None:
        """Where they go from now on; what was open is closed."""
        self.connections.aim(address)

    def close(self) -> None:
        """Close all."""
        self.connections.close()

    def flow(self, cases: Sequence[Case], patience: float | None = None) -> Flow:
        """Begin with cases; one flow at a time. patience: another one than usual, in seconds."""
        return Flow(
            self.connections,
            self.offered,
            cases,
            self._patience if patience is None else patience,
            self._who,
            self._log,
        )

    def run(
        self,
        cases: Sequence[Case],
        patience: float | None = None,
        over: Callable[[], bool] = lambda: False,
    ) -> tuple[list[Observation], list[Logged]]:
        """One observation a case, in order, and what was logged meanwhile; once it is `over()` nobody is
        waited for any longer."""
        flow = self.flow(cases, patience)
        placed = flow.some(len(cases), over)
        return [found for _, found in sorted(placed, key=itemgetter(0))], flow.logged()
