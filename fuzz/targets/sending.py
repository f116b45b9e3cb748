"""Sends cases to one broker, with a probe behind them, and has it ready for that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.delayed_responses import AT_WORK_MS, LIMIT_MS
from barnabas.fuzz.targets.blame import blamed
from barnabas.fuzz.targets.flow import Flow
from barnabas.fuzz.targets.lanes import Lanes
from barnabas.fuzz.targets.preparing import prepare
from barnabas.fuzz.targets.probing import Prober
from barnabas.fuzz.targets.processor import spent
from barnabas.fuzz.targets.revival import Revival
from barnabas.fuzz.targets.service import Elsewhere, Service
from barnabas.fuzz.targets.watching import Watch

IDLE: Final = 0.2
"""Share of a core that a broker takes at most while it has nothing to do but what cases have left behind."""

WORN: Final = 32
"""Sessions that fail in a row before a broker that had some is started anew: a case may have fenced it."""


class Sender:
    """To a service, over lanes that nobody else uses meanwhile."""

    def __init__(self, service: Service, lanes: Lanes, prober: Prober) -> None:
        self.revival = Revival(service, prober, self._aim)
        self.watch = Watch(service, prober, self.revival)
        self.executed = 0
        """Cases that were sent."""
        self.unprepared = ""
        """What sessions will miss of this broker, in words."""
        self.doing = ""
        """What is done that is no case's turn, in words for who waits."""
        self.down = False
        """Whether it could not be started again."""
        self._service = service
        self._lanes = lanes
        self._prober = prober

    def perform(self, cases: Sequence[Case]) -> list[Observation]:
        """Send cases, then a probe; what no case shows by itself is wrong with the target."""
        self.ready()
        self.watch.begin()
        found, logged = self._lanes.run(cases)
        self.executed += len(cases)
        found = self.watch.look(found, logged, alone=len(cases) == 1)
        if len(cases) == 1 and self.watch.wrong is not None:
            self.watch.unattributed.caught(self.watch.wrong.log)
        return found

    def apart(self, case: Case) -> Observation:
        """Send a case on a connection of its own."""
        self._lanes.aim(self._service.address)
        return self._alone(case)

    def anew(self, case: Case) -> Observation:
        """Send a case to a target that was started anew."""
        self.restart()
        return self._alone(case)

    def patiently(self, case: Case) -> Observation:
        """Send a case, and wait as long as any answer may take; while the process is at work, longer."""
        self.ready()
        self.watch.begin()
        self.doing = f"waiting for an answer for {LIMIT_MS / 1000:.0f} s, longer if it is worked on"
        flow = self._lanes.flow((case,), AT_WORK_MS / 1000)
        ((_, found),) = flow.some(1, self._enough(flow))
        logged = flow.logged()
        self.executed += 1
        self.doing = ""
        (found,) = self.watch.look([found], logged, alone=True)
        found = replace(
            found, rss=None, heap=None
        )  # what others have left behind takes memory, too
        wrong = self.watch.wrong
        if wrong is None:
            return found
        return replace(found, death=wrong.death, log=found.log + wrong.log)

    def _enough(self, flow: Flow) -> Callable[[], bool]:
        """Whether its answer has been waited for long enough."""
        pid, over = getattr(self._service, "pid", None), self._prober.over
        before = spent(pid) or 0.0

        def enough() -> bool:
            waited = flow.waited
            late = waited >= LIMIT_MS / 1000
            return over() or (late and (spent(pid) or 0.0) - before <= IDLE * waited)

        return enough

    def _alone(self, case: Case) -> Observation:
        (found,) = self.perform((case,))
        return found if self.watch.wrong is None else blamed(found, self.watch.wrong)

    def ready(self) -> None:
        """Bring back what died or hangs. Raises CannotRun."""
        if self.down:
            self.restart()
        watch = self.watch
        wrong = watch.wrong
        probe = wrong.probe if wrong else None
        if wrong is None or (wrong.death is None and (probe is None or probe.answered)):
            watch.wrong = None
            if probe is not None and probe.problem:
                # or what is damaged now is blamed on others
                watch.canary.write(self._lanes.offered)
            return
        if wrong.death is None and self.revival.was_busy():
            watch.wrong = None
            self._lanes.aim(self._service.address)
        else:
            self.restart()

    @property
    def worn(self) -> bool:
        """Whether it is to be started anew: no session can be had any more."""
        return self._lanes.counts.failing >= WORN and not isinstance(self._service, Elsewhere)

    def restart(self) -> None:
        """Start it anew. Raises CannotRun."""
        before, self.doing, self.down = self.doing, "starting it anew", True
        try:
            self.revival.restart()
        finally:
            self.doing = before
        self.watch.wrong, self.down = None, False

    def _aim(self) -> None:
        self._lanes.aim(self._service.address)
        self._lanes.counts.anew()
        self._lanes.offered = self._prober.offered()
        self.unprepared = prepare(self._prober, self._lanes.offered)
        self.watch.canary.write(self._lanes.offered)
