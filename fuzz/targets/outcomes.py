"""What two brokers or decoders did with one case, described alike, so that the descriptions can be compared.

Differences that documents allow do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Final, NamedTuple

from barnabas.captures.kafka.errors import codes_in
from barnabas.fuzz.cases.case import Case, Role
from barnabas.fuzz.cases.observation import SET_ASIDE, Observation, is_set_aside
from barnabas.fuzz.observations.case_labels import api_of
from barnabas.fuzz.observations.delayed_responses import may_wait
from barnabas.fuzz.observations.exchanges import Exchange, pair_responses, response_body_of
from barnabas.fuzz.targets.pair import Both, Difference
from barnabas.fuzz.targets.target import Target
from barnabas.specs.error_codes import ERROR_CODES, error_name
from barnabas.specs.frames import Direction
from barnabas.specs.keys import FETCH, PRODUCE
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES, api
from barnabas.specs.releases import IN_NAME_ONLY

PASSING: Final = frozenset(error.code for error in ERROR_CODES if error.retriable) - {2}
"""Error codes that may differ a moment later: all retriable ones except CORRUPT_MESSAGE."""

NOT_THE_SAME: Final = frozenset((SET_ASIDE, "session_failed"))
"""Facts of a case that the two targets did not get alike."""

UNSUPPORTED: Final = "UNSUPPORTED_VERSION"
"""The error of a release that lacks a feature, or has it disabled."""

Versions = Mapping[int, range]
"""The versions that a target supports by API key; empty if unknown."""


def supported_versions(offered: Versions) -> Versions:
    """Return the versions that a broker supports of those that it offers.

    From 4.0 on some are offered in name only (`specs.releases`). Such a broker is recognized by Fetch, which
    has lost its first versions.

    >>> supported_versions({0: range(0, 13), 1: range(4, 18)})
    {0: range(3, 13), 1: range(4, 18)}
    >>> supported_versions({0: range(0, 12), 1: range(0, 18)})
    {0: range(0, 12), 1: range(0, 18)}
    """
    if PRODUCE not in offered or offered.get(FETCH, range(1)).start < FIRST_FETCH:
        return offered
    produce = offered[PRODUCE]
    return {**offered, PRODUCE: range(max(produce.start, IN_NAME_ONLY[PRODUCE].stop), produce.stop)}


FIRST_FETCH: Final = 4


class Outcome(NamedTuple):
    """A description of what a target did with a case.

    description: without values of this case. value: a digest of the result. passing: the outcome may differ a
    moment later.
    """

    description: str
    value: str = ""
    passing: bool = False


def difference(
    first: Observation, second: Observation, role: Role, taken: tuple[Versions, Versions]
) -> tuple[str, str] | None:
    """Return the descriptions of what each target did, if they should be equal and are not."""
    if any(name in NOT_THE_SAME for mine in (first, second) for name, _ in mine.facts):
        return None
    if not all(_both_take(key, version, taken) for key, version in _asked(first, role)):
        return None
    mine, others = outcome(first, role), outcome(second, role)
    if (
        mine.passing
        or others.passing
        or (UNSUPPORTED in mine.description) != (UNSUPPORTED in others.description)
    ):
        return None
    if mine.description != others.description:
        return mine.description, others.description
    if mine.value and others.value and mine.value != others.value:
        return mine.description, f"{others.description}, as something else"
    return None


def _asked(observation: Observation, role: Role) -> list[tuple[int, int]]:
    if role == "decoder":
        return [key_and_version(observation.case)[:2]]
    return [(request.key, request.version) for request in pair_responses(observation)[0].requests]


def _both_take(key: int, version: int, taken: tuple[Versions, Versions]) -> bool:
    """Return whether both targets support a version of an API whose layout is known.

    A frame too short for an API key is sent to all.
    """
    if key == -1:
        return True
    if key not in NAMES or not api(key).versions[0] <= version <= api(key).versions[1]:
        return False
    return all(not versions or version in versions.get(key, range(0)) for versions in taken)


def outcome(observation: Observation, role: Role) -> Outcome:
    """Return what a target did."""
    return _of_decoder(observation) if role == "decoder" else _of_broker(observation)


def _of_decoder(observation: Observation) -> Outcome:
    facts = dict(observation.facts)
    if observation.raised:
        return Outcome(f"raised {observation.raised.partition(':')[0]}")
    if "refused" in facts:
        return Outcome("refused")
    # a message that can't be encoded again (tags out of order) has no value to compare
    return Outcome("read", str(facts.get("wrote", "")))


def _of_broker(observation: Observation) -> Outcome:
    """Describe a broker's responses.

    A reset connection counts as closed: which of the two happens is chance.
    """
    if observation.death is not None:
        return Outcome("died")
    parts, passing = [], False
    for exchange in pair_responses(observation)[1]:
        if exchange.reply is None:
            passing |= observation.ending == "open" and may_wait(exchange.head)
            continue
        codes = _codes(exchange)
        passing |= codes is not None and not PASSING.isdisjoint(codes)
        if codes is None:
            parts.append("a response that can't be read")
        else:
            parts.append(" ".join(error_name(code) for code in sorted(codes)) or "no error")
    ended = "" if observation.ending == "open" else "closed"
    return Outcome(", ".join(filter(None, (*parts, ended))) or "no answer", passing=passing)


def _codes(exchange: Exchange) -> set[int] | None:
    """Return the error codes except 0; None if the response can't be decoded."""
    try:
        return set(codes_in(response_body_of(exchange), exchange.head.key, exchange.head.version))
    except (Malformed, LookupError):
        return None


def key_and_version(case: Case) -> tuple[int, int, Direction]:
    """Return the API key, version and direction by which a decoder reads a case.

    A request's frame has its own key and version.
    """
    seed = case.recipe.seed
    head = b"".join(case.chunks)[4:8]
    if seed.direction == "response" or len(head) < 4:
        return seed.key, seed.version, seed.direction
    signed = int.from_bytes
    return signed(head[:2], "big", signed=True), signed(head[2:], "big", signed=True), "request"


def digest(message: bytes) -> str:
    """Return a digest of an encoded message, short enough for a fact."""
    return blake2b(message, digest_size=8).hexdigest()


class OutcomeComparison:
    """Compares two brokers or decoders, which must run."""

    common: Final = ""

    def __init__(self, first: Target, second: Target) -> None:
        self.pair = first, second
        self._decoders = first.role == "decoder"
        self.again = 0 if self._decoders else 1  # a decoder depends on its input only

    @cached_property
    def _taken(self) -> tuple[Versions, Versions]:
        first, second = (_taken(target) for target in self.pair)
        return first, second

    def supported_versions(self) -> Versions:
        """Return the versions that both targets support, by API key."""
        mine, others = self._taken
        if not mine or not others:
            return mine or others
        return {
            key: range(
                max(mine[key].start, others[key].start), min(mine[key].stop, others[key].stop)
            )
            for key in mine.keys() & others.keys()
        }

    def prepare(self, cases: Sequence[Case]) -> Sequence[Both]:
        """Return nothing: cases are compared without valid ones."""
        return ()

    def comparable(self, mine: Observation, others: Observation) -> bool:
        """Return whether the other target got the case, too."""
        return not is_set_aside(others)

    def difference(self, mine: Observation, others: Observation) -> Difference | None:
        """Return what the two targets did differently, with their names; None if nothing."""
        words = difference(mine, others, self.pair[0].role, self._taken)
        if words is None:
            return None
        subject, (mine_words, others_words) = self._about(mine), words
        first, second = (target.name for target in self.pair)
        return Difference(
            f"{subject}: {first}: {mine_words}; {second}: {others_words}",
            (subject, mine_words, others_words),
        )

    def _about(self, observation: Observation) -> str:
        """Return what a difference is about: an API of brokers, or a mutation for decoders.

        Decoders read all APIs alike.
        """
        if not self._decoders:
            return api_of(observation)
        recipe = observation.case.recipe
        changed = recipe.changes[-1].mutator if recipe.changes else "nothing changed"
        return f"{changed} in a {recipe.seed.direction}"


def _taken(target: Target) -> Versions:
    offered = getattr(target, "supported_versions", None)
    return supported_versions(offered()) if offered is not None else {}
