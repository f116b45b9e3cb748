"""UNKNOWN_SERVER_ERROR: the broker says itself that it did not expect this."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.exchanges import answer, exchanged, minus_ones
from barnabas.fuzz.observations.java_exceptions import raised
from barnabas.fuzz.oracles.allowed import allowed
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES

_MINUS_ONE: Final = b"\xff\xff"
"""The error code, as it is written."""


def judge(observation: Observation) -> Iterator[Verdict]:
    """Report each place of a response with UNKNOWN_SERVER_ERROR."""
    _, found = exchanged(observation)
    for one in found:
        # what can't be read is for `responses`: those two bytes may be anything in it
        if one.reply is None or not one.known or _MINUS_ONE not in one.reply:
            continue
        try:
            paths = sorted(set(minus_ones(answer(one))))
        except Malformed:
            continue
        name = NAMES[one.asked.key]
        # what may be has an error code of its own: it is of a request beside this one
        chains = [raised(entry) for entry in observation.log]
        causes = [chain[-1] for chain in chains if chain and not allowed(chain)]
        why = causes[-1].signature if causes else ()
        for path in paths:
            yield Verdict(
                "server_error",
                f"{name} v{one.asked.version} was answered with UNKNOWN_SERVER_ERROR at {path}",
                (name, path, *why),
            )
