"""The oracle `died`: the process ended, which no input may cause."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.case_labels import labels_without_stack
from barnabas.fuzz.observations.crashes import describe_exit, find_crash
from barnabas.fuzz.observations.java_stacks import exceptions_in
from barnabas.fuzz.oracles.oracle import Verdict

FROM_OUTSIDE: Final = ", from outside: the kernel, for want of memory, or somebody else"
"""A note on SIGKILL: no process sends it to itself, so the case that is blamed may be innocent."""


def judge(observation: Observation) -> Iterator[Verdict]:
    """Report a process that ended."""
    death = observation.death
    if death is None:
        return
    ended = describe_exit(death.exit_code)
    exceptions, native_crash = exceptions_in(death.last_words), find_crash(death.last_words)
    if exceptions:
        location = exceptions[-1].signature
    elif native_crash is not None:
        location = (*native_crash.frames, native_crash.reason)
    else:
        location = ()
    placed = death.exit_code is not None and death.exit_code >= 0  # a signal has no location
    if not placed and not exceptions and (native_crash is None or not native_crash.frames):
        location = (*location, *labels_without_stack(observation))
    note = FROM_OUTSIDE if death.exit_code == -signal.SIGKILL else ""
    yield Verdict("died", f"the process ended: {ended}{note}", (ended, *location))
