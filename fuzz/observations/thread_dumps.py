"""Where a thread of a JVM computes for long, by dumps of its threads (SIGQUIT)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final

from barnabas.fuzz.observations.java_exceptions import FRAMES, frames

_THREAD: Final = re.compile(r'^"[^"]+" .*\bcpu=([\d.]+)ms .*\b(tid=\w+)', re.MULTILINE)
"""A thread's first line: the milliseconds of a processor that it has had (since Java 11), and its id; several
may have one name."""


def computing(dumps: Sequence[str]) -> tuple[str, ...]:
    r"""The innermost frames of Kafka's own that all dumps have of the thread that had most of a processor
    between the first and the last: what it calls from there is another thing each time.

    >>> a = '"a" #1 cpu={}ms tid=1\n\tat kafka.{}.g(G:1)\n\tat kafka.A.f(A:1)\n'
    >>> dump = a + '\n"a" #2 cpu=9ms tid=2\n\tat kafka.B.h(B:1)\n'
    >>> computing([dump.format("1.00", "X"), dump.format("2.50", "Y")])
    ('kafka.A.f',)
    >>> computing([])
    ()
    """
    threads = [_threads(dump) for dump in dumps]
    if not threads:
        return ()
    first, last = threads[0], threads[-1]
    had = {one: last[one][0] - first[one][0] for one in first.keys() & last.keys()}
    busiest = max(had, key=lambda one: had[one], default="")
    stacks = [one[busiest][1][::-1] for one in threads if busiest in one]
    common = itertools.takewhile(lambda same: len(set(same)) == 1, zip(*stacks, strict=False))
    return tuple(same[0] for same in common)[::-1][:FRAMES]


def _threads(dump: str) -> dict[str, tuple[float, tuple[str, ...]]]:
    """By its id, what each thread that has frames of Kafka's has had, and these."""
    found = {}
    for block in dump.split("\n\n"):
        thread = _THREAD.search(block)
        if thread and (own := frames(block[thread.start() :])):
            found[thread[2]] = float(thread[1]), own
    return found
