"""Cases in sessions side by side, most of which wait: their observations come in the order of the cases."""

from __future__ import annotations

import selectors
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import SET_ASIDE, Observation
from barnabas.fuzz.targets.clients.alarms import alarm
from barnabas.fuzz.targets.clients.confirming import Confirming, with_facts
from barnabas.fuzz.targets.clients.worker import Worker
from barnabas.plural import plural

BUSY: Final = 2
"""The part of the sessions side by side that goes on while we are what they wait for, on a busy machine."""
MORE: Final = 3
"""So many times as many sessions as side by side there are at most: those that are over and do not end are
waited for beside."""
AGAIN: Final = 2
"""How often a case is run again whose session ended before the client asked for its answer."""
FIRST: Final = 2
"""Sessions at first; one more for each that is over, since first ones are slow."""
WAKES: Final = 0.02
"""Seconds after which it is looked whether a thread that runs cases again is done."""


class SideBySide:
    """Sessions of one run.

    workers: those there are; others are made by `make` and stay in it. begin: a case's session with a worker.
    count: of sessions side by side. memory: bytes that are an alarm. says: what is done beside new cases.
    """

    def __init__(
        self,
        selector: selectors.BaseSelector,
        workers: list[Worker],
        make: Callable[[], Worker],
        begin: Callable[[Worker, Case], None],
        looks: Confirming,
        *,
        count: int,
        memory: int,
        says: Callable[[str], None],
    ) -> None:
        self._selector, self._workers, self._make = selector, workers, make
        self._begin, self._looks = begin, looks
        self._count, self._memory, self._says = count, memory, says

    def run(self, cases: Sequence[Case], over: Callable[[], bool]) -> Iterator[Observation]:
        """Run cases; once it is `over()` no more are begun, and it ends behind those that are under way."""
        looks = self._looks
        waiting = list(reversed(list(enumerate(cases))))
        running: dict[int, Worker] = {}
        unasked: Counter[int] = Counter()
        done: dict[int, list[Observation]] = {}
        busy, begun, ended = False, 1, 0  # the first one is, however little time there is
        for place in range(len(cases)):
            while place not in done:
                if over():
                    if place >= begun:
                        return
                    waiting = [one for one in waiting if one[0] < begun]
                most = min(-(-self._count // BUSY) if busy else self._count, FIRST + ended)
                while waiting and (free := self._free(most)) is not None:
                    at, case = waiting.pop()
                    begun = max(begun, at + 1)
                    self._begin(free, case)
                    running[at] = free
                self._says(f"running {plural(len(looks), 'case')} again, alone" if looks else "")
                busy = wait(self._selector, self._workers, WAKES if looks else None)
                done.update(looks.ended())
                for at, worker in list(running.items()):
                    observation = worker.finished()
                    if observation is None:
                        continue
                    del running[at]
                    ended += 1
                    if alarm(observation, self._memory) is not None:
                        found = looks.see(at, observation, [*worker.before])
                        if found is not None:
                            done[at] = found
                    elif dict(observation.facts).get("served"):
                        done[at] = [observation]
                    elif unasked[at] == AGAIN:  # it was never sent
                        done[at] = [with_facts(observation, (SET_ASIDE, True))]
                    else:
                        unasked[at] += 1
                        waiting.append((at, observation.case))
            yield from done.pop(place)

    def _free(self, most: int) -> Worker | None:
        """Who may begin a session, if there is room for one among so many."""
        if sum(not (worker.idle or worker.ending) for worker in self._workers) >= most:
            return None
        for worker in self._workers:
            if worker.idle:
                return worker
        if len(self._workers) >= MORE * self._count:
            return None
        self._workers.append(self._make())
        return self._workers[-1]


def wait(
    selector: selectors.BaseSelector, workers: Sequence[Worker], most: float | None = None
) -> bool:
    """Until something comes or is due, for so many seconds at most; then let it be said. Whether it had come
    already: clients wait for us, and others would make them wait longer."""
    due = [moment for worker in workers if (moment := worker.tick()) is not None]
    seconds = max(0.0, min(due) - time.monotonic()) if due else None
    if most is not None:
        seconds = most if seconds is None else min(seconds, most)
    here = selector.select(0)
    for key, events in here or selector.select(seconds):
        key.data(events)
    return bool(here)
