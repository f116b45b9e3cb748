"""The registry: every step, in the order in which they are tried: what saves most comes first."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.shrinking.changes import FEWER, SIMPLER
from barnabas.fuzz.shrinking.fields import ELEMENTS, LOWER, VALUES
from barnabas.fuzz.shrinking.records import RECORDS
from barnabas.fuzz.shrinking.sessions import SESSION_STEPS, SESSIONS
from barnabas.fuzz.shrinking.step import Step
from barnabas.fuzz.shrinking.versions import VERSIONS

STEPS: Final[tuple[Step, ...]] = (
    SESSIONS,
    SESSION_STEPS,
    FEWER,
    ELEMENTS,
    VALUES,
    RECORDS,
    VERSIONS,
    LOWER,
    SIMPLER,
)
