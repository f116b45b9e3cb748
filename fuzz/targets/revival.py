"""Starts a service, and restarts it when it died or hangs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from barnabas.fuzz.cases.observation import Death, Probe
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.targets.probing import Prober
from barnabas.fuzz.targets.service import Elsewhere, Service

BACK: Final = 4
"""Connections that are all answered by a broker which hung and is well again. One of its network threads
takes each in turn, and by default it has three."""

REFUSED: Final = ConnectionRefusedError.__name__

LOGIN: Final = "; does it want a login (?mechanism=...) or TLS?"
"""Said of who does not answer one that has not logged in."""

DYING_S: Final = 2.0
"""How long a process that no longer answers may take to end."""


class Revival:
    """started: is called after each start; the address may be another one."""

    def __init__(self, service: Service, prober: Prober, started: Callable[[], None]) -> None:
        self.restarts = 0
        self._service = service
        self._prober = prober
        self._started = started
        self._unanswered = False
        """Whether it left the latest probe unanswered."""
        self._start_s = 0.0
        """Seconds that the last start took."""

    def start(self) -> None:
        """Start it. Raises CannotRun."""
        problem = self._start()
        if problem is not None:
            host, port = self._service.address
            hint = "" if self._prober.logs_in or REFUSED in problem else LOGIN
            raise CannotRun(
                f"{self._service.name} at {host}:{port} does not serve: {problem}{hint}"
            )

    def restart(self) -> None:
        """Start it anew. Raises CannotRun."""
        self._service.stop()
        problem = self._start()
        self.restarts += 1
        if problem is not None:
            raise CannotRun(f"{self._service.name} no longer serves: {problem}; start it again")

    def _start(self) -> str | None:
        """Why it does not serve; None: it does."""
        began, self._unanswered = time.monotonic(), False
        self._service.start()
        self._start_s = time.monotonic() - began
        self._prober.aim(self._service.address)
        probe = self._prober.probe()
        if not probe.answered:
            return probe.problem
        self._started()
        self._service.log()  # what it said while it started is no case's
        return None

    def death(self, probe: Probe) -> Death | None:
        """How its process ended, if it did; one that left a probe unanswered may be about to, and is waited
        for once."""
        if isinstance(self._service, Elsewhere):
            return None if probe.answered else self._service.death()
        death = self._service.death()
        deadline = time.monotonic() + (0 if probe.answered or self._unanswered else DYING_S)
        self._unanswered = not probe.answered
        while death is None and time.monotonic() < deadline:
            time.sleep(0.05)
            death = self._service.death()
        return death

    def was_busy(self) -> bool:
        """Whether what hung was only busy: it is waited for as long as it would take to start it."""
        deadline = time.monotonic() + self._start_s
        answered = 0
        while answered < BACK:
            if time.monotonic() > deadline or self._service.death() is not None:
                return False
            self._prober.close()  # or it would say nothing of other connections
            answered = answered + 1 if self._prober.probe().answered else 0
        self._service.log()
        self._unanswered = False
        return True
