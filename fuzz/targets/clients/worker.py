"""One session at a time, in a process of its own or among others: a case goes in, what was seen comes out."""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from barnabas.fuzz.answering.broker import Broker
from barnabas.fuzz.answering.cluster import TOPIC, Cluster
from barnabas.fuzz.answering.offer import EVERYTHING, Offer, narrowed
from barnabas.fuzz.answering.planted import Planted
from barnabas.fuzz.answering.session import Session
from barnabas.fuzz.cases.case import Case, Recipe, Seed
from barnabas.fuzz.cases.observation import REACHED, SPINS, Death, Observation, Probe
from barnabas.fuzz.targets.clients.alarms import BESIDE, UNSURE
from barnabas.fuzz.targets.clients.allowance import LOOK, Allowance
from barnabas.fuzz.targets.clients.limits import Ending, Limits, at_all
from barnabas.fuzz.targets.clients.processes import Process, Processes
from barnabas.fuzz.targets.processor import delayed, spent
from barnabas.specs.registry import NAMES

_WITHOUT: Final = 2
"""So many times as long a session may take in which the client never came to its case."""

_ENDING: Final = 0.2
"""Seconds that a session which was said to be over usually takes at most."""


@dataclass(slots=True)
class _Under:
    """A session that is under way."""

    case: Case | None
    session: Session
    process: Process
    number: int
    ready: bool
    begun: float
    memory: int
    may: Allowance
    ending: Callable[[], Ending]
    spent: float | None = None
    """Processor time of the child in the first look with the case, or since it is over."""
    dismissed: float | None = None
    """When the child was told that it may end the session."""


_numbers: Final = itertools.count(1)
"""Of sessions: who began is told what is over by them."""


class Worker:
    """Runs one session at a time, in one of the processes.

    dialect: the client's library. tells: whether a child that hangs is asked where, and waited for meanwhile.
    guides: whether new lines that a session reached are told with it.
    """

    def __init__(
        self,
        processes: Processes,
        limits: Limits,
        *,
        dialect: str,
        tells: bool,
        guides: bool = False,
    ) -> None:
        self._processes, self._limits = processes, limits
        self._dialect, self._tells, self._guides = dialect, tells, guides
        self.selector, self._each = processes.selector, processes.each
        self._under: _Under | None = None
        self.before: Sequence[Case] = ()
        """The cases that may be to blame for how the latest session ended beside its own, oldest first."""
        self.broker = Broker()
        """Of the latest session: what was asked for, and what was answered."""

    @property
    def idle(self) -> bool:
        """Whether it can begin a session."""
        return self._under is None

    @property
    def ending(self) -> bool:
        """Whether its session is over and takes longer than usual to end."""
        dismissed = self._under.dismissed if self._under is not None else None
        return dismissed is not None and time.monotonic() - dismissed > _ENDING

    def begin(
        self,
        workload: str,
        case: Case | None = None,
        offer: Offer = EVERYTHING,
        ending: Callable[[], Ending] | None = None,
    ) -> None:
        """Begin a session, of a case or a valid one. Raises OSError if the child can't be started.

        ending: what it may take then, asked when it takes long; without, it has all the time of the limits.
        """
        planted = None
        if case is not None:
            seed = case.recipe.seed
            planted = Planted(case, seed.key, seed.version)
            offer = narrowed(seed.key, seed.version, offer)
        broker = Broker(Cluster(), offer, planted, last=self._limits.last)
        session = Session(self.selector, broker, time.monotonic, self._limits.patience_s)
        number = next(_numbers)
        try:
            process = self._processes.enter(number, case, session.bootstrap)
        except BaseException:
            session.close()
            raise
        now, memory, hung_s = time.monotonic(), process.child.memory(), self._limits.hung_s
        self._under = _Under(
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
            asked = {"number": number, "run": workload, "bootstrap": session.bootstrap}
            process.child.tell(json.dumps({**asked, "topic": TOPIC, "api": api}))

    def _given(self, seconds: float, process: Process) -> Allowance:
        """So much time, without that in which there was no processor for it. It waits for this thread of
        ours, not for those beside it."""
        here, thread, child = os.getpid(), threading.get_native_id(), process.child.pid
        return Allowance(seconds, time.monotonic(), lambda: delayed(child) + delayed(here, thread))

    def tick(self) -> float | None:
        """Say what is due in its session; when to be called again."""
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
        """The observation of its session once that has ended: by an answer, by a death, or too late."""
        under = self._under
        if under is None:
            return None
        if not under.ready and under.process.is_ready():
            under.ready = True
            under.begun = time.monotonic()
            under.memory = under.process.child.memory()
            under.may = self._given(_WITHOUT * self._limits.hung_s, under.process)
        said = under.process.answer(under.number)
        if said is not None:
            return self._end(under, said=said)
        if under.process.child.ended:
            return self._end(under, death=under.process.death())
        return self._late(under) if time.monotonic() >= under.may.look else None

    def _late(self, under: _Under) -> Observation | None:
        """Look what the processor did for a session that goes on; the observation if it hangs."""
        used = self._used(under)
        if under.dismissed is not None:
            ending = under.ending()
            if used >= ending.spins_s:
                return self._end(under, hangs=True, spins=True)
            under.may.shorten(ending.hung_s)
        if used >= self._limits.much_s and not self._each:
            under.session.over = True
        spins = used >= self._limits.spins_s
        if under.may.used_up(time.monotonic(), busy=spins):
            return self._end(under, hangs=True, spins=spins)
        return None

    def _used(self, under: _Under) -> float:
        """Processor time that its session took with the case, or since it is over; where others are in the
        process, its share."""
        if not under.session.served:
            return 0.0
        now = spent(under.process.child.pid) or 0.0
        if under.spent is None:
            under.spent = now
        return (now - under.spent) / len(under.process.running)

    def _end(
        self,
        under: _Under,
        *,
        said: dict[str, Any] | None = None,
        death: Death | None = None,
        hangs: bool = False,
        spins: bool = False,
    ) -> Observation:
        took = time.monotonic() - under.begun
        process, child = under.process, under.process.child
        stack = child.where() if hangs and self._tells else ""
        highest = max(child.highest_memory(), process.highest.pop(under.number, 0))
        beside = process.beside.get(under.number, 0)
        news = child.news() if said is not None else []
        self.broker = under.session.broker
        self.before = process.suspects(under.number) if death is not None else [*process.before]
        log = child.log() if death is None else ()
        under.session.close()
        self._under = None
        if death is not None and self._each and death.exit_code == 0:
            death = None
        ends = said is None or highest > self._limits.memory
        if hangs and not spins:
            self._processes.give_up(process, under.number)
        else:
            self._processes.leave(process, under.number, ends=ends)
        raised, facts = _raised_of(said or {})
        facts = (
            ("served", under.session.served),
            ("later", [[key, version] for key, version in under.session.later]),
            ("left", under.session.left),
            ("starts", [*map(list, self.broker.starts.items())]),
            ("each", self._each),
            ("dialect", self._dialect),
            *(((BESIDE, beside),) if beside else ()),
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
            rss=(under.memory, max(highest, under.memory)) if death is None else None,
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


def _sent(under: _Under) -> tuple[bytes, ...]:
    """The case's bytes as they were sent."""
    if under.case is None or not under.session.served:
        return ()
    return under.case.chunks


def _raised_of(said: dict[str, Any]) -> tuple[str, tuple[tuple[str, object], ...]]:
    """Return what a program says it raised (`peers/clients/programs/lines.py`), and the facts about it."""
    raised = said.get("raised")
    facts: tuple[tuple[str, object], ...] = (
        ("records", said.get("records", 0)),
        ("delivered", said.get("delivered")),
        ("failed", said.get("failed", [])),
    )
    if raised is None:
        return "", facts
    if raised.get("unsure"):
        facts = (*facts, (UNSURE, True))
    lines = [f"{raised['class']}: {raised['message']}", *(f" {one}" for one in raised["frames"])]
    about = (("bases", raised["bases"]), ("frames", raised["frames"]), ("where", raised["where"]))
    return "\n".join(lines), (*facts, *about)
