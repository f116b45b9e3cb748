"""Oracles of logs: no Errors, no exceptions that bad input may not cause, no tracebacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from barnabas.fuzz.cases.observation import STACK, Observation
from barnabas.fuzz.observations.case_labels import labels_without_stack
from barnabas.fuzz.observations.java_stacks import ENDS_ITSELF, exceptions_in
from barnabas.fuzz.oracles.allowed import allowed
from barnabas.fuzz.oracles.oracle import Verdict

_ERRORS: Final = re.compile(
    r"java\.lang\.(?:OutOfMemoryError|StackOverflowError|InternalError|UnknownError|VirtualMachineError)"
)
"""Memory or stack ran out, or the virtual machine failed."""

_FRAMES: Final = 2
"""Innermost frames that tell bugs apart."""

_FRAME: Final = re.compile(r'^  File "(?:[^"]*/)?([^"/]+)", line \d+, in (\S+)$', re.MULTILINE)


def fatal(observation: Observation) -> Iterator[Verdict]:
    """Report Errors in the log, and a process that reports that it ends itself."""
    facts: dict[str, Any] = dict(observation.facts)
    frames_of_kind = tuple(facts.get(STACK, ()))
    last = (observation.death.last_words,) if observation.death else ()
    for entry in (*observation.log, *last):
        for exception in exceptions_in(entry):
            if _ERRORS.fullmatch(exception.name):
                location = exception.frames or frames_of_kind or labels_without_stack(observation)
                yield Verdict(
                    "fatal", f"{exception.name}: {exception.message}", (exception.name, *location)
                )
        self_end = ENDS_ITSELF.search(entry)
        if self_end:
            yield Verdict("fatal", entry.splitlines()[0], (self_end[0],))


def logged(observation: Observation) -> Iterator[Verdict]:
    """Report exceptions in the log that bad input may not cause."""
    for entry in observation.log:
        chain = exceptions_in(entry)
        if (
            not chain
            or allowed(chain)
            or any(_ERRORS.fullmatch(exception.name) for exception in chain)
        ):
            continue
        cause = chain[-1]
        location = cause.frames or labels_without_stack(observation)
        yield Verdict("logged", f"{cause.name}: {cause.message}"[:300], (cause.name, *location))


def traceback(observation: Observation) -> Iterator[Verdict]:
    """Report tracebacks that a process in Python printed: no code handled that exception."""
    for entry in observation.log:
        if not entry.startswith("Traceback "):
            continue
        last = entry.rstrip().rpartition("\n")[2]
        frames = [f"{file}:{function}" for file, function in _FRAME.findall(entry)]
        location = tuple(frames[-_FRAMES:][::-1])
        yield Verdict("traceback", f"it printed {last}", (last.partition(":")[0], *location))
