"""A whole request neither answered nor refused by an end, while the broker answers others.

Requests that may wait (long polls, replicas, members: fuzz/observations/delayed_responses.py says which and
why) are exempt, and so is anything that was not waited for long enough, alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.delayed_responses import LIMIT_MS, may_wait
from barnabas.fuzz.observations.exchanges import exchanged
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.specs.registry import NAMES


def judge(observation: Observation) -> Iterator[Verdict]:
    """Report a request that was not answered in time."""
    probe = observation.probe
    # who answers nobody hangs: that is for `hung`
    if observation.ending != "open" or probe is None or not probe.answered:
        return
    if observation.took_ms < LIMIT_MS:
        return
    _, found = exchanged(observation)
    late = next((one.asked for one in found if one.reply is None), None)
    if late is None or may_wait(late):
        return
    name = NAMES.get(late.key, "an unknown API")
    yield Verdict(
        "unanswered",
        f"{name} v{late.version} was neither answered nor refused within {LIMIT_MS} ms",
        (name,),
    )
