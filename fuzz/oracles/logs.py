"""What a process must not write to its log: Errors, exceptions that bad input may not cause, tracebacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from barnabas.fuzz.cases.observation import STACK, Observation
from barnabas.fuzz.observations.about import placeless
from barnabas.fuzz.observations.java_exceptions import ENDS_ITSELF, raised
from barnabas.fuzz.oracles.allowed import allowed
from barnabas.fuzz.oracles.oracle import Verdict

_ERRORS: Final = re.compile(
    r"java\.lang\.(?:OutOfMemoryError|StackOverflowError|InternalError|UnknownError|VirtualMachineError)"
)
"""Memory or stack ran out, or the virtual machine itself failed."""

_FRAMES: Final = 2
"""Innermost frames that tell one bug from another."""

_FRAME: Final = re.compile(r'^  File "(?:[^"]*/)?([^"/]+)", line \d+, in (\S+)$', re.MULTILINE)


def fatal(observation: Observation) -> Iterator[Verdict]:
    """Report Errors in the log, and a process that says that it ends itself."""
    facts: dict[str, Any] = dict(observation.facts)
    known = tuple(facts.get(STACK, ()))
    last = (observation.death.last_words,) if observation.death else ()
    for entry in (*observation.log, *last):
        for one in raised(entry):
            if _ERRORS.fullmatch(one.name):
                where = one.frames or known or placeless(observation)
                yield Verdict("fatal", f"{one.name}: {one.message}", (one.name, *where))
        found = ENDS_ITSELF.search(entry)
        if found:
            yield Verdict("fatal", entry.splitlines()[0], (found[0],))


def logged(observation: Observation) -> Iterator[Verdict]:
    """Report exceptions in the log that bad input may not cause."""
    for entry in observation.log:
        chain = raised(entry)
        if not chain or allowed(chain) or any(_ERRORS.fullmatch(one.name) for one in chain):
            continue
        cause = chain[-1]
        where = cause.frames or placeless(observation)
        yield Verdict("logged", f"{cause.name}: {cause.message}"[:300], (cause.name, *where))


def traceback(observation: Observation) -> Iterator[Verdict]:
    """Report tracebacks that a process in Python printed: nobody expected that exception."""
    for entry in observation.log:
        if not entry.startswith("Traceback "):
            continue
        last = entry.rstrip().rpartition("\n")[2]
        frames = [f"{file}:{function}" for file, function in _FRAME.findall(entry)]
        where = tuple(frames[-_FRAMES:][::-1])
        yield Verdict("traceback", f"it printed {last}", (last.partition(":")[0], *where))
