"""What a target did with a case, in words that another one would use for the same; and whether the words
of two may be compared at all: what documents let them do differently is no difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Final, NamedTuple

from barnabas.captures.kafka.errors import codes_in
from barnabas.fuzz.cases.case import Case, Role
from barnabas.fuzz.cases.observation import SET_ASIDE, Observation
from barnabas.fuzz.observations.delayed_responses import may_wait
from barnabas.fuzz.observations.exchanges import Exchanged, answer, exchanged
from barnabas.specs.error_codes import ERROR_CODES, error_name
from barnabas.specs.frames import Direction
from barnabas.specs.keys import FETCH, PRODUCE
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES, api
from barnabas.specs.releases import IN_NAME_ONLY

PASSING: Final = frozenset(one.code for one in ERROR_CODES if one.retriable) - {2}
"""Error codes that may be others a moment later: of all that can be tried again but CORRUPT_MESSAGE."""

NOT_THE_SAME: Final = frozenset((SET_ASIDE, "session_failed"))
"""Facts of a case that a target did not get as the other one did."""

UNSUPPORTED: Final = "UNSUPPORTED_VERSION"
"""How a release says that it has no such thing, or not with these settings."""

Taken = Mapping[int, range]
"""API key -> the versions that a target takes; empty: it does not say."""


def taken(offered: Taken) -> Taken:
    """What a broker takes of what it offers: not what 4.0 offers in name only (`specs.releases`). It is known
    by Fetch, which has lost its first versions.

    >>> taken({0: range(0, 13), 1: range(4, 18)}), taken({0: range(0, 12), 1: range(0, 18)})
    ({0: range(3, 13), 1: range(4, 18)}, {0: range(0, 12), 1: range(0, 18)})
    """
    if PRODUCE not in offered or offered.get(FETCH, range(1)).start < FIRST_FETCH:
        return offered
    produce = offered[PRODUCE]
    return {**offered, PRODUCE: range(max(produce.start, IN_NAME_ONLY[PRODUCE].stop), produce.stop)}


FIRST_FETCH: Final = 4


class Outcome(NamedTuple):
    """said: in words, without what is of this case only. value: that. passing: it may be another one a
    moment later."""

    said: str
    value: str = ""
    passing: bool = False


def difference(
    first: Observation, second: Observation, role: Role, taken: tuple[Taken, Taken]
) -> tuple[str, str] | None:
    """What each of two did with a case, if that is not the same and should be."""
    if any(name in NOT_THE_SAME for one in (first, second) for name, _ in one.facts):
        return None
    if not all(_both_take(key, version, taken) for key, version in _asked(first, role)):
        return None
    one, other = outcome(first, role), outcome(second, role)
    if one.passing or other.passing or (UNSUPPORTED in one.said) != (UNSUPPORTED in other.said):
        return None
    if one.said != other.said:
        return one.said, other.said
    if one.value and other.value and one.value != other.value:
        return one.said, f"{other.said}, as something else"
    return None


def _asked(observation: Observation, role: Role) -> list[tuple[int, int]]:
    if role == "decoder":
        return [asked_of(observation.case)[:2]]
    return [(one.key, one.version) for one in exchanged(observation)[0].requests]


def _both_take(key: int, version: int, taken: tuple[Taken, Taken]) -> bool:
    """Whether both offer it, and we have its layout. What is too short to say what it is, all take."""
    if key == -1:
        return True
    if key not in NAMES or not api(key).versions[0] <= version <= api(key).versions[1]:
        return False
    return all(not versions or version in versions.get(key, range(0)) for versions in taken)


def outcome(observation: Observation, role: Role) -> Outcome:
    """What it did."""
    return _of_decoder(observation) if role == "decoder" else _of_broker(observation)


def _of_decoder(observation: Observation) -> Outcome:
    facts = dict(observation.facts)
    if observation.raised:
        return Outcome(f"raised {observation.raised.partition(':')[0]}")
    if "refused" in facts:
        return Outcome("refused")
    # what can be read and not written again (tags that do not ascend) has no value to compare
    return Outcome("read", str(facts.get("wrote", "")))


def _of_broker(observation: Observation) -> Outcome:
    """A connection that is reset was closed, and nothing more: which of the two is chance."""
    if observation.death is not None:
        return Outcome("died")
    said, passing = [], False
    for one in exchanged(observation)[1]:
        if one.reply is None:
            passing |= observation.ending == "open" and may_wait(one.asked)
            continue
        codes = _codes(one)
        passing |= codes is not None and not PASSING.isdisjoint(codes)
        if codes is None:
            said.append("a response that can't be read")
        else:
            said.append(" ".join(error_name(code) for code in sorted(codes)) or "no error")
    ended = "" if observation.ending == "open" else "closed"
    return Outcome(", ".join(filter(None, (*said, ended))) or "no answer", passing=passing)


def _codes(one: Exchanged) -> set[int] | None:
    """The error codes but 0; None if the response can't be read."""
    try:
        return set(codes_in(answer(one), one.asked.key, one.asked.version))
    except (Malformed, LookupError):
        return None


def asked_of(case: Case) -> tuple[int, int, Direction]:
    """The API and version by which a decoder reads a case: a request says them itself."""
    seed = case.recipe.seed
    head = b"".join(case.chunks)[4:8]
    if seed.direction == "response" or len(head) < 4:
        return seed.key, seed.version, seed.direction
    signed = int.from_bytes
    return signed(head[:2], "big", signed=True), signed(head[2:], "big", signed=True), "request"


def digest(message: bytes) -> str:
    """Bytes that a decoder writes, short enough to be a fact."""
    return blake2b(message, digest_size=8).hexdigest()
