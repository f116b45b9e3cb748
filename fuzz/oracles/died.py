"""The process ended: whatever it was sent, it must not."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.about import placeless
from barnabas.fuzz.observations.crashes import crash, how
from barnabas.fuzz.observations.java_exceptions import raised
from barnabas.fuzz.oracles.oracle import Verdict

FROM_OUTSIDE: Final = ", from outside: the kernel, for want of memory, or somebody else"
"""Of SIGKILL: no process sends it to itself, so the case that is blamed may be innocent."""


def judge(observation: Observation) -> Iterator[Verdict]:
    """Report a process that ended."""
    death = observation.death
    if death is None:
        return
    ended = how(death.exit_code)
    found, said = raised(death.last_words), crash(death.last_words)
    if found:
        where = found[-1].signature
    elif said is not None:
        where = (*said.frames, said.reason)
    else:
        where = ()
    placed = death.exit_code is not None and death.exit_code >= 0  # a signal tells no place
    if not placed and not found and (said is None or not said.frames):
        where = (*where, *placeless(observation))
    whose = FROM_OUTSIDE if death.exit_code == -signal.SIGKILL else ""
    yield Verdict("died", f"the process ended: {ended}{whose}", (ended, *where))
