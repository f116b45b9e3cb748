"""A response that can't be read, or that answers something else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.exchanges import Exchanged, answer, exchanged
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.plural import plural
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES


def judge(observation: Observation) -> Iterator[Verdict]:
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
