"""What is wrong with the responses to a case: unreadable ones, UNKNOWN_SERVER_ERROR, none at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.delayed_responses import LIMIT_MS, may_wait
from barnabas.fuzz.observations.exchanges import Exchanged, answer, exchanged, minus_ones
from barnabas.fuzz.observations.java_exceptions import raised
from barnabas.fuzz.oracles.allowed import allowed
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.plural import plural
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES

_MINUS_ONE: Final = b"\xff\xff"
"""The error code, as it is written."""


def wrong(observation: Observation) -> Iterator[Verdict]:
    """Report responses that are too many, unreadable, or to another request."""
    _, found = exchanged(observation)
    facts = dict(observation.facts)
    if facts.get("garbled"):
        yield Verdict("responses", "a response of a negative size", ("negative size",))
    if len(observation.replies) > len(found):
        yield Verdict(
            "responses",
            f"{plural(len(observation.replies), 'response')} to {plural(len(found), 'request')}",
            ("more responses than requests", NAMES.get(found[0].asked.key, "") if found else ""),
        )
    for one in found:
        if one.reply is not None and not one.cut:
            yield from _one(one)


def _one(one: Exchanged) -> Iterator[Verdict]:
    reply = one.reply or b""
    name = NAMES.get(one.asked.key, "an unknown API")
    if one.asked.key == -1 or int.from_bytes(reply[:4], signed=True) != one.asked.correlation_id:
        yield Verdict(
            "responses",
            f"{name} was answered with another correlation id",
            ("correlation id", name),
        )
        return
    if not one.known:
        return
    try:
        answer(one)
    except Malformed as problem:
        where = re.sub(r"\[\d+\]", "", problem.path)
        yield Verdict(
            "responses",
            f"the response to {name} v{one.asked.version} can't be decoded: {problem}",
            (name, where),
        )


def server_error(observation: Observation) -> Iterator[Verdict]:
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


def unanswered(observation: Observation) -> Iterator[Verdict]:
    """Report a whole request neither answered nor refused by an end, while the broker answers others.

    Requests that may wait (long polls, replicas, members: fuzz/observations/delayed_responses.py says which
    and why) are exempt, and so is anything that was not waited for long enough, alone.
    """
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
