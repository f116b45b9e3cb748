"""A worker: one session of a client at a time, with a case or a valid one; returns an observation."""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from barnabas.fuzz.bench_broker.broker import Broker
from barnabas.fuzz.bench_broker.cluster import TOPIC, Cluster
from barnabas.fuzz.bench_broker.contexts.context import NO_CONTEXT
from barnabas.fuzz.bench_broker.contexts.registry import context_of
from barnabas.fuzz.bench_broker.offer import EVERYTHING, Offer, narrowed
from barnabas.fuzz.bench_broker.planted import PlantedResponse
from barnabas.fuzz.bench_broker.session import Session
from barnabas.fuzz.cases.case import Case, Recipe, Seed
from barnabas.fuzz.cases.observation import REACHED, SPINS, Death, Observation, Probe
from barnabas.fuzz.observations.client_outcome import CLAIMED, WRONG_DATA
from barnabas.fuzz.targets.clients.alarms import BESIDE, UNSURE
from barnabas.fuzz.targets.clients.limits import LOOK, Allowance, EndLimits, Limits, at_all
from barnabas.fuzz.targets.clients.processes import ClientProcess, ClientProcesses
from barnabas.fuzz.targets.clients.wrong_data import wrong_data
from barnabas.fuzz.targets.process_usage import MemoryUse, delayed, memory_use, spent
from barnabas.specs.registry import NAMES

_WITHOUT: Final = 2
"""Factor of the time of a session in which the client never requests its case's response."""

_ENDING: Final = 0.2
"""Seconds that a session usually takes at most after it was told to end."""


@dataclass(slots=True)
class _RunningSession:
    """A session in progress."""

    case: Case | None
    session: Session
    process: ClientProcess
    number: int
    ready: bool
    begun: float
    memory: MemoryUse
    may: Allowance
    ending: Callable[[], EndLimits]
    spent: float | None = None
    """Processor time of the child at the first look with the case, or at the end of the session's time."""
    dismissed: float | None = None
    """The moment when the child was told that it may end the session."""


_numbers: Final = itertools.count(1)
"""Numbers of sessions, by which programs report their ends."""


class Worker:
    """Runs one session at a time, in one of the processes.

    Args:
        processes: The processes.
        limits: The client's limits.
        dialect: The client's library.
        tells: A child that hangs must print its stack, which takes a moment.
        guides: New lines that a session reached are returned as a fact.
    """

    def __init__(
        self,
        processes: ClientProcesses,
        limits: Limits,
        *,
        dialect: str,
        tells: bool,
        guides: bool = False,
    ) -> None:
        self._processes, self._limits = processes, limits
        self._dialect, self._tells, self._guides = dialect, tells, guides
        self.selector, self._each = processes.selector, processes.each
        self._under: _RunningSession | None = None
        self.before: Sequence[Case] = ()
        """Cases that may have caused the end of the latest session, other than its own, oldest first."""
        self.broker = Broker()
        """The broker of the latest session, with its requests and responses."""

    @property
    def idle(self) -> bool:
        """Return whether the worker can begin a session."""
        return self._under is None

    @property
    def ending(self) -> bool:
        """Return whether its session takes longer than usual to end."""
        dismissed = self._under.dismissed if self._under is not None else None
        return dismissed is not None and time.monotonic() - dismissed > _ENDING

    def begin(
        self,
        workload: str,
        case: Case | None = None,
        offer: Offer = EVERYTHING,
        ending: Callable[[], EndLimits] | None = None,
    ) -> None:
        """Begin a session with a case, or a valid one. Raises OSError if the child can't be started.

        Args:
            workload: The workload of the client's program.
            case: The case.
            offer: The versions that the broker offers.
            ending: Returns the end limits, called when the session takes long; without, they are the whole
                limits.
        """
        planted, context = None, NO_CONTEXT
        if case is not None:
            seed, context = case.recipe.seed, context_of(case)
            planted = PlantedResponse(case, seed.key, seed.version, repeats=context.repeats)
            offer = narrowed(seed.key, seed.version, offer)
        broker = Broker(Cluster(), offer, planted, context=context, last=self._limits.last)
        session = Session(self.selector, broker, time.monotonic, self._limits.patience_s)
        number = next(_numbers)
        try:
            process = self._processes.enter(number, case, session.bootstrap)
        except BaseException:
            session.close()
            raise
        now, memory, hung_s = time.monotonic(), memory_use(process.child.pid), self._limits.hung_s
        self._under = _RunningSession(
            case,
            session,
            process,
            number,
            ready=process.ready,
            begun=now,
            memory=memory,
            may=self._given(_WITHOUT * hung_s if process.ready else self._limits.starts_s, process),
            ending=ending or (lambda: at_all(self._limits)),
        )
        if not self._each:
            api = "-" if case is None else NAMES.get(case.recipe.seed.key, "-")
            command = {"number": number, "run": workload, "bootstrap": session.bootstrap}
            process.child.tell(json.dumps({**command, "topic": TOPIC, "api": api}))

    def _given(self, seconds: float, process: ClientProcess) -> Allowance:
        """Return an allowance for a session.

        It waits for this thread of ours, not for those of other workers.
        """
        here, thread, child = os.getpid(), threading.get_native_id(), process.child.pid
        return Allowance(seconds, time.monotonic(), lambda: delayed(child) + delayed(here, thread))

    def tick(self) -> float | None:
        """Write what is due in the session; return the moment of the next call, or None."""
        under = self._under
        if under is None:
            return None
        due = under.session.tick()
        if under.session.over and under.dismissed is None:
            under.dismissed = time.monotonic()
            under.may, under.spent = self._given(self._limits.hung_s, under.process), None
            if not self._each:
                over = {"number": under.number, "over": True}
                under.process.child.tell(json.dumps(over))
        if under.session.served and under.spent is None:
            under.may.look = min(under.may.look, time.monotonic() + LOOK)
        return under.may.look if due is None else min(due, under.may.look)

    def finished(self) -> Observation | None:
        """Return the observation of the session once it has ended: by an answer, a crash, or too late."""
        under = self._under
        if under is None:
            return None
        if not under.ready and under.process.is_ready():
            under.ready = True
            under.begun = time.monotonic()
            under.memory = memory_use(under.process.child.pid)
            under.may = self._given(_WITHOUT * self._limits.hung_s, under.process)
        answer = under.process.answer(under.number)
        if answer is not None:
            return self._end(under, answer=answer)
        if under.process.child.ended:
            return self._end(under, death=under.process.death())
        return self._late(under) if time.monotonic() >= under.may.look else None

    def _late(self, under: _RunningSession) -> Observation | None:
        """Check the processor time of a session that goes on; return the observation if it hangs."""
        used = self._used(under)
        if under.dismissed is not None:
            ending = under.ending()
            if used >= ending.spins_s:
                return self._end(under, hangs=True, spins=True)
            under.may.shorten(ending.hung_s)
        if used >= self._limits.much_s and not self._each:
            under.session.over = True
        computes = used >= self._limits.spins_s
        if under.may.used_up(time.monotonic(), busy=computes):
            return self._end(under, hangs=True, spins=computes)
        return None

    def _used(self, under: _RunningSession) -> float:
        """Return the processor time that the session used with the case, or since it was told to end.

        If other sessions are in the process, it is the session's share.
        """
        if not under.session.served:
            return 0.0
        now = spent(under.process.child.pid) or 0.0
        if under.spent is None:
            under.spent = now
        return (now - under.spent) / len(under.process.running)

    def _end(
        self,
        under: _RunningSession,
        *,
        answer: dict[str, Any] | None = None,
        death: Death | None = None,
        hangs: bool = False,
        spins: bool = False,
    ) -> Observation:
        took = time.monotonic() - under.begun
        process, child = under.process, under.process.child
        stack = child.where() if hangs and self._tells else ""
        memory = memory_use(child.pid)
        highest = max(memory.peak, process.highest.pop(under.number, 0))
        claims = self._limits.claims and not self._each  # a command starts with the session
        claimed = memory.mapped_since(under.memory) if claims else 0
        beside = process.beside.get(under.number, 0)
        news = child.news() if answer is not None else []
        self.broker = under.session.broker
        self.before = process.suspects(under.number) if death is not None else [*process.before]
        log = child.log() if death is None else ()
        under.session.close()
        self._under = None
        if death is not None and self._each and death.exit_code == 0:
            death = None
        ends = answer is None or max(highest, claimed) > self._limits.memory
        if hangs and not spins:
            self._processes.give_up(process, under.number)
        else:
            self._processes.leave(process, under.number, ends=ends)
        raised, facts = _raised_of(answer or {})
        delivered = (answer or {}).get("delivered")
        wrong = under.case and wrong_data(under.case, self.broker, delivered)
        facts = (
            ("served", under.session.served),
            ("later", [[key, version] for key, version in under.session.later]),
            ("left", under.session.left),
            ("starts", [*map(list, self.broker.starts.items())]),
            ("each", self._each),
            ("dialect", self._dialect),
            *(((BESIDE, beside),) if beside else ()),
            *(((WRONG_DATA, list(wrong)),) if wrong else ()),
            *(((CLAIMED, claimed),) if claimed >= self._limits.memory else ()),
            *(((REACHED, news),) if news and self._guides else ()),
            *facts,
        )
        probe = None
        if hangs and not self._each:
            probe = Probe(False, took * 1e3, f"a session had not ended after {took:.0f} s")
            facts = (
                *facts,
                *((("stack", stack),) if stack else ()),
                *(((SPINS, True),) if spins else ()),
            )
        return Observation(
            under.case or _NOTHING,
            sent=_sent(under),
            ending="open",
            took_ms=took * 1e3,
            probe=probe,
            death=death,
            log=log,
            raised=raised,
            rss=None if death else (under.memory.resident, max(highest, under.memory.resident)),
            facts=facts,
        )

    def end(self) -> None:
        """End the session, and its process with it, if there is one."""
        under, self._under = self._under, None
        if under is not None:
            under.session.close()
            self._processes.leave(under.process, under.number, ends=True)


_NOTHING: Final = Case(-1, Recipe(Seed(-1, -1, "response", b"", "none"), ()), ())
"""Stands for no case, in the observation of a valid session."""


def _sent(under: _RunningSession) -> tuple[bytes, ...]:
    """Return the case's bytes as they were sent."""
    if under.case is None or not under.session.served:
        return ()
    return under.case.chunks


def _raised_of(answer: dict[str, Any]) -> tuple[str, tuple[tuple[str, object], ...]]:
    """Return the exception that a program reports (`peers/clients/programs/lines.py`), and its facts."""
    raised = answer.get("raised")
    facts: tuple[tuple[str, object], ...] = (
        ("records", answer.get("records", 0)),
        ("delivered", answer.get("delivered")),
        ("failed", answer.get("failed", [])),
    )
    if raised is None:
        return "", facts
    if raised.get("unsure"):
        facts = (*facts, (UNSURE, True))
    lines = [
        f"{raised['class']}: {raised['message']}",
        *(f" {frame}" for frame in raised["frames"]),
    ]
    exception_facts = (
        ("bases", raised["bases"]),
        ("frames", raised["frames"]),
        ("where", raised["where"]),
    )
    return "\n".join(lines), (*facts, *exception_facts)
