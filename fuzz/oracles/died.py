"""The process ended: whatever it was sent, it must not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fuzz.observation import Observation
from fuzz.oracles.crashes import how
from fuzz.oracles.oracle import Oracle, Verdict
from fuzz.oracles.stacks import raised


def _judge(observation: Observation) -> Iterator[Verdict]:
    death = observation.death
    if death is None:
        return
    ended = how(death.exit_code)
    found = raised(death.last_words)
    where = found[-1].signature if found else _native(death.last_words)
    yield Verdict("died", f"the process ended: {ended}", (ended, *where))


def _native(words: str) -> tuple[str, ...]:
    """What an assertion of C says: the function, and what did not hold."""
    found = re.search(r"(\S+): Assertion [`'](.*?)['`] failed", words)
    return (found[1], found[2]) if found else ()


DIED: Final = Oracle("died", "the process died, or was restarted", frozenset(("broker",)), _judge)
