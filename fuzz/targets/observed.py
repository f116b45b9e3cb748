"""What became of a case that went over a connection."""

from __future__ import annotations

import time
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import WAITED, Ending, Observation
from barnabas.fuzz.targets.connections import Lane

REUSED: Final = "reused"
"""The fact of a case that came over a connection which others had before it."""


def observed(case: Case, lane: Lane, ending: Ending, *, waited: bool) -> Observation:
    """The observation of a case that is over. waited: whether its answer was waited for in vain."""
    took = (time.perf_counter() - lane.began) * 1000
    facts: tuple[tuple[str, object], ...] = (("port", lane.port),)
    if lane.trouble:
        facts += (("session_failed", lane.trouble),)
    if lane.reader.garbled:
        facts += (("garbled", True),)
    if waited:
        facts += ((WAITED, round(took)),)
    if lane.cases > 1:
        facts += ((REUSED, True),)
    replies = tuple(lane.reader.replies)
    if lane.bare and replies:  # they are no responses
        facts += (("tokens", [reply.hex() for reply in replies]),)
        replies = ()
    return Observation(case, lane.sent, replies, ending, took, facts=facts)


def ending_of(problem: OSError) -> Ending:
    """What a failed call says of a connection."""
    return "refused" if isinstance(problem, ConnectionRefusedError) else "reset"
