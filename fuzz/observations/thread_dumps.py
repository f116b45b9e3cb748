"""Where a thread of a JVM computes for long, by dumps of its threads (SIGQUIT)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final

from barnabas.fuzz.observations.java_exceptions import FRAMES, frames

_THREAD: Final = re.compile(r'^"[^"]+" .*\bnid=(0x[0-9a-f]+|\d+)', re.MULTILINE)
"""A thread's first line: the system's id of it, in hexadecimal before Java 21."""


def computing(dumps: Sequence[str], thread: int) -> tuple[str, ...]:
    r"""The innermost frames of Kafka's own that a thread has in all dumps in which it is: what it calls from
    there is another thing each time. thread: the system's id.

    >>> dump = '"a" #1 nid=0x1f runnable\n\tat kafka.{}.g(G:1)\n\tat kafka.A.f(A:1)\n'
    >>> computing([dump.format("X"), "", dump.format("Y")], 31)
    ('kafka.A.f',)
    >>> computing([], 31)
    ()
    """
    stacks = [found[::-1] for dump in dumps if (found := _frames(dump, thread))]
    common = itertools.takewhile(lambda same: len(set(same)) == 1, zip(*stacks, strict=False))
    return tuple(same[0] for same in common)[::-1][:FRAMES]


def _frames(dump: str, thread: int) -> tuple[str, ...]:
    for block in dump.split("\n\n"):
        found = _THREAD.search(block)
        if found and int(found[1], 0) == thread:
            return frames(block[found.start() :])
    return ()
