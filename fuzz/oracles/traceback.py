"""A process in Python printed a traceback: nobody expected that exception."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.oracles.oracle import Verdict

FRAMES: Final = 2
"""Innermost frames that tell one bug from another."""

_FRAME: Final = re.compile(r'^  File "(?:[^"]*/)?([^"/]+)", line \d+, in (\S+)$', re.MULTILINE)


def judge(observation: Observation) -> Iterator[Verdict]:
    """Report tracebacks in the log."""
    for entry in observation.log:
        if not entry.startswith("Traceback "):
            continue
        last = entry.rstrip().rpartition("\n")[2]
        frames = [f"{file}:{function}" for file, function in _FRAME.findall(entry)]
        where = tuple(frames[-FRAMES:][::-1])
        yield Verdict("traceback", f"it printed {last}", (last.partition(":")[0], *where))
