"""A broker that is kept ready for cases: it is started and restarted, cases are sent, and a probe follows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.observations.delayed_responses import AT_WORK_MS, LIMIT_MS
from barnabas.fuzz.targets.blame import with_trouble
from barnabas.fuzz.targets.connections import Connections
from barnabas.fuzz.targets.flow import Flow
from barnabas.fuzz.targets.health import HealthCheck
from barnabas.fuzz.targets.preparation import prepare
from barnabas.fuzz.targets.prober import Prober
from barnabas.fuzz.targets.process_usage import spent
from barnabas.fuzz.targets.service import Elsewhere, Service
from barnabas.peers.replay.authentication import Credentials

IDLE: Final = 0.2
"""Share of a core that an idle broker uses at most, with the work that earlier cases caused."""

WORN: Final = 32
"""Sessions that fail in a row before the broker is restarted: a case may have fenced the client."""

BACK: Final = 4
"""Connections that must all be answered before a broker that hung counts as well again. Each of its network
threads takes connections in turn, and by default there are three."""

REFUSED: Final = ConnectionRefusedError.__name__

LOGIN: Final = "; does it want a login (?mechanism=...) or TLS?"
"""The hint for a broker that does not answer a client without a login."""


class Sender:
    """A broker's service, its connections and its health, for one campaign.

    timeout: seconds that a response may take. credentials: the user of each connection, if there is a login.
    """

    def __init__(
        self,
        service: Service,
        connections: Connections,
        prober: Prober,
        timeout: float,
        credentials: Credentials | None = None,
    ) -> None:
        self.health = HealthCheck(service, prober)
        self.executed = 0
        """Cases that were sent."""
        self.restarts = 0
        self.unprepared = ""
        """What sessions lack on this broker, as a message."""
        self.doing = ""
        """The current activity other than sending new cases, as a message."""
        self.down = False
        """Whether the last restart failed."""
        self._service = service
        self._connections = connections
        self._prober = prober
        self._timeout = timeout
        self._credentials = credentials
        self._start_s = 0.0
        """Seconds that the last start took."""

    def flow(self, cases: Sequence[Case], timeout: float | None = None) -> Flow:
        """Begin to send cases; one flow at a time.

        Args:
            cases: The cases.
            timeout: Seconds that a response may take, instead of the sender's.
        """
        return Flow(
            self._connections,
            cases,
            self._timeout if timeout is None else timeout,
            self._credentials,
            lambda: self._service.log(),
        )

    def perform(self, cases: Sequence[Case]) -> list[Observation]:
        """Send cases, then a probe, and return their observations in order.

        `health.wrong` then has the trouble that no observation shows.
        """
        self.ready()
        self.health.begin()
        flow = self.flow(cases)
        placed = flow.some(len(cases))
        observations = [observation for _, observation in sorted(placed, key=lambda pair: pair[0])]
        self.executed += len(cases)
        observations = self.health.look(observations, flow.logged(), alone=len(cases) == 1)
        if len(cases) == 1 and self.health.wrong is not None:
            self.health.unattributed.note_culprit(self.health.wrong.log)
        return observations

    def send_alone(self, case: Case) -> Observation:
        """Send a case on a new connection."""
        self._connections.aim(self._service.address)
        return self._alone(case)

    def send_fresh(self, case: Case) -> Observation:
        """Restart the broker, then send a case."""
        self.restart()
        return self._alone(case)

    def send_patiently(self, case: Case) -> Observation:
        """Send a case and wait as long as any response may take, or longer while the broker works."""
        self.ready()
        self.health.begin()
        self.doing = f"waiting for an answer for {LIMIT_MS / 1000:.0f} s, longer if it is worked on"
        flow = self.flow((case,), AT_WORK_MS / 1000)
        ((_, observation),) = flow.some(1, self._enough(flow))
        logged = flow.logged()
        self.executed += 1
        self.doing = ""
        (observation,) = self.health.look([observation], logged, alone=True)
        # work that earlier cases caused takes memory, too
        observation = replace(observation, rss=None, heap=None)
        wrong = self.health.wrong
        if wrong is None:
            return observation
        return replace(observation, death=wrong.death, log=observation.log + wrong.log)

    def _enough(self, flow: Flow) -> Callable[[], bool]:
        """Return the function that tells when the flow's case has waited long enough for a response."""
        pid, over = getattr(self._service, "pid", None), self._prober.over
        before = spent(pid) or 0.0

        def enough() -> bool:
            waited = flow.waited
            late = waited >= LIMIT_MS / 1000
            return over() or (late and (spent(pid) or 0.0) - before <= IDLE * waited)

        return enough

    def _alone(self, case: Case) -> Observation:
        (observation,) = self.perform((case,))
        wrong = self.health.wrong
        return observation if wrong is None else with_trouble(observation, wrong)

    def ready(self) -> None:
        """Restart the broker if it crashed or hangs. Raises CannotRun."""
        if self.down:
            self.restart()
        health = self.health
        wrong = health.wrong
        probe = wrong.probe if wrong else None
        if wrong is None or (wrong.death is None and (probe is None or probe.answered)):
            health.wrong = None
            if probe is not None and probe.problem:
                # otherwise later cases are blamed for this damage
                health.canary.write(self._connections.offered)
            return
        if wrong.death is None and self._was_busy():
            health.reset()
            self._connections.aim(self._service.address)
        else:
            self.restart()

    @property
    def worn(self) -> bool:
        """Return whether the broker needs a restart because its sessions keep failing."""
        return self._connections.counts.failing >= WORN and not isinstance(self._service, Elsewhere)

    def start(self) -> None:
        """Start the broker. Raises CannotRun."""
        problem = self._start()
        if problem is not None:
            host, port = self._service.address
            hint = "" if self._prober.logs_in or REFUSED in problem else LOGIN
            raise CannotRun(
                f"{self._service.name} at {host}:{port} does not serve: {problem}{hint}"
            )

    def restart(self) -> None:
        """Stop the broker and start it. Raises CannotRun."""
        before, self.doing, self.down = self.doing, "starting it anew", True
        try:
            self._service.stop()
            problem = self._start()
            self.restarts += 1
            if problem is not None:
                raise CannotRun(f"{self._service.name} no longer serves: {problem}; start it again")
        finally:
            self.doing = before
        self.health.wrong, self.down = None, False

    def _start(self) -> str | None:
        """Start the broker and prepare it; return why it does not serve, or None."""
        began = time.monotonic()
        self.health.unanswered = False
        self._service.start()
        self._start_s = time.monotonic() - began
        self._prober.aim(self._service.address)
        probe = self._prober.probe()
        if not probe.answered:
            return probe.problem
        connections = self._connections
        connections.aim(self._service.address)
        connections.counts.reset_failures()
        connections.offered = self._prober.offered()
        self.unprepared = prepare(self._prober, connections.offered)
        self.health.canary.write(connections.offered)
        self._service.log()  # entries of the start belong to no case
        return None

    def _was_busy(self) -> bool:
        """Return whether a broker that hung answers again within the time that a start takes."""
        deadline = time.monotonic() + self._start_s
        answered = 0
        while answered < BACK:
            if time.monotonic() > deadline or self._service.death() is not None:
                return False
            self._prober.close()  # a new connection may be served by another thread
            answered = answered + 1 if self._prober.probe().answered else 0
        self._service.log()
        return True
