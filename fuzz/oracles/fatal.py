"""A log tells of an Error: memory or stack ran out, or the virtual machine itself failed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from barnabas.fuzz.cases.observation import STACK, Observation
from barnabas.fuzz.observations.about import placeless
from barnabas.fuzz.observations.java_exceptions import ENDS_ITSELF, raised
from barnabas.fuzz.oracles.oracle import Verdict

NAMES: Final = re.compile(
    r"java\.lang\.(?:OutOfMemoryError|StackOverflowError|InternalError|UnknownError|VirtualMachineError)"
)


def judge(observation: Observation) -> Iterator[Verdict]:
    """Report Errors in the log, and a process that says that it ends itself."""
    facts: dict[str, Any] = dict(observation.facts)
    known = tuple(facts.get(STACK, ()))
    last = (observation.death.last_words,) if observation.death else ()
    for entry in (*observation.log, *last):
        for one in raised(entry):
            if NAMES.fullmatch(one.name):
                where = one.frames or known or placeless(observation)
                yield Verdict("fatal", f"{one.name}: {one.message}", (one.name, *where))
        found = ENDS_ITSELF.search(entry)
        if found:
            yield Verdict("fatal", entry.splitlines()[0], (found[0],))
