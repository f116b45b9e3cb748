"""A log tells of an exception that bad input must not cause."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.about import placeless
from barnabas.fuzz.observations.java_exceptions import raised
from barnabas.fuzz.oracles.allowed import allowed
from barnabas.fuzz.oracles.fatal import NAMES
from barnabas.fuzz.oracles.oracle import Verdict


def judge(observation: Observation) -> Iterator[Verdict]:
    """Report exceptions in the log that bad input may not cause."""
    for entry in observation.log:
        chain = raised(entry)
        if not chain or allowed(chain) or any(NAMES.fullmatch(one.name) for one in chain):
            continue
        cause = chain[-1]
        where = cause.frames or placeless(observation)
        yield Verdict("logged", f"{cause.name}: {cause.message}"[:300], (cause.name, *where))
