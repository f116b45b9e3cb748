"""Two targets side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from barnabas import specs
from barnabas.fuzz.cases.case import Case, Recipe, Role, Seed
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.oracles.registry import ORACLES_BY_NAME
from barnabas.fuzz.targets.outcomes import Outcome, Versions, difference, outcome
from barnabas.fuzz.targets.pair import DOUBTED, PairTarget
from barnabas.fuzz.targets.registry import compared, target_of
from barnabas.specs.keys import FIND_COORDINATOR, INIT_PRODUCER_ID
from tests.fuzz.fakes import FakeTarget
from tests.fuzz.observed import case as case_of
from tests.fuzz.observed import request, response

DIFFERING = ORACLES_BY_NAME["differing"]

Answers = Callable[[int], int]
"""The error code of the n-th case that a target gets."""


class Fake(FakeTarget):
    role: Role = "broker"

    def __init__(self, name: str, answers: Answers) -> None:
        super().__init__()
        self.name, self.answers = name, answers
        self.versions: dict[int, range] = {}

    def supported_versions(self) -> dict[int, range]:
        return self.versions

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        for case in cases:
            self.ran.append(case.number)
            found = seen(GROUP, 0, self.answers(len(self.ran)))
            yield Observation(case, found.sent, found.replies)


def cases(count: int) -> list[Case]:
    one = seen(GROUP, 0).case
    return [Case(n, Recipe(one.recipe.seed, ()), one.chunks) for n in range(count)]


def pair(first: Answers, second: Answers) -> tuple[PairTarget, Fake]:
    other = Fake("b", second)
    return compared(Fake("a", first), other), other


def told(target: PairTarget, count: int) -> list[tuple[str, ...]]:
    with target:
        return [
            verdict.behaviour
            for observation in target.run(cases(count))
            for verdict in DIFFERING.judge(observation)
        ]


def test_a_difference_that_holds_is_told_for_every_case_and_tried_once_more_for_the_first() -> None:
    target, other = pair(lambda n: 0, lambda n: 69)
    behaviour = ("OffsetDelete", "no error", "GROUP_ID_NOT_FOUND")
    assert told(target, 3) == [behaviour] * 3
    assert (other.ran, other.entered) == ([0, 1, 2, 0], 0)


def test_a_difference_that_is_gone_the_next_time_is_chance_and_is_not_tried_for_ever() -> None:
    # the batch differs; what is run again alone does not
    target, other = pair(lambda n: 0, lambda n: 69 if n <= 10 else 0)
    assert told(target, 10) == []
    assert len(other.ran) == 10 + DOUBTED


def test_it_takes_what_both_take() -> None:
    one, other = Fake("a", lambda n: 0), Fake("b", lambda n: 0)
    one.versions, other.versions = {3: range(10), 9: range(2)}, {3: range(4, 14), 8: range(1)}
    with compared(one, other) as target:
        assert target.supported_versions() == {3: range(4, 10)}
    other.versions = {}
    with compared(one, other) as target:
        assert target.supported_versions() == one.versions


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("librdkafka vs decoder:specs", "can't be compared"),
        ("librdkafka vs client:kafka-python@2.3.1", "two brokers, two decoders or two clients"),
        ("librdkafka vs librdkafka vs librdkafka", "at most two targets can be compared"),
        ("librdkafka vs nothing:1", "unknown kind of target 'nothing'"),
        ("decoder:specs vs decoder:kafka-clients@x", "not a version of Kafka"),
    ],
)
def test_what_is_no_pair_is_told(text: str, said: str) -> None:
    with pytest.raises(Misuse, match=said):
        target_of(text, False)


def test_two_clients_are_a_pair() -> None:
    target = target_of("client:kafka-python@2.3.1 vs client:java@4.3.1", False)
    assert (target.name, target.role) == ("kafka-python 2.3.1 beside java 4.3.1", "client")


@pytest.mark.needs_apache("4.3.1")
@pytest.mark.timeout(300)
def test_apache_and_the_embedded_cluster_are_compared_by_their_names() -> None:
    """librdkafka's mock brokers take any timeout of a transaction; Kafka has a limit."""
    body = {"transactional_id": "t", "transaction_timeout_ms": 1 << 30}
    same = request(FIND_COORDINATOR, 0, {"key": "g"})
    with target_of("apache:4.3.1 vs librdkafka", False) as target:
        assert target.role == "broker"
        found = list(
            target.run([case_of(request(INIT_PRODUCER_ID, 0, body)), case_of(same, number=1)])
        )
    (verdict,) = [one for seen in found for one in DIFFERING.judge(seen)]
    assert verdict.behaviour == ("InitProducerId", "INVALID_TRANSACTION_TIMEOUT", "no error")


GROUP = "OffsetDelete"


ALL: tuple[Versions, Versions] = ({}, {})


def asked(name: str, version: int) -> bytes:
    key, codec = specs.api(name).key, specs.api(name).request.codec(version)
    return request(key, version, codec.decode(codec.encode({})))


def answered(name: str, version: int, code: int) -> bytes:
    key, codec = specs.api(name).key, specs.api(name).response.codec(version)
    return response(key, version, codec.decode(codec.encode({"error_code": code})))


def seen(name: str, version: int, *codes: int, ending: str = "open") -> Observation:
    frame = asked(name, version)
    key = specs.api(name).key
    case = Case(0, Recipe(Seed(key, version, "request", frame[4:], "x"), ()), (frame,))
    replies = tuple(answered(name, version, code) for code in codes)
    return Observation(case, (frame,), replies, ending)  # type: ignore[arg-type]


def read(**facts: object) -> Observation:
    return replace(seen(GROUP, 0), facts=tuple(facts.items()))


def test_error_codes_and_ends_are_what_brokers_do() -> None:
    assert outcome(seen(GROUP, 0, 69), "broker") == Outcome("GROUP_ID_NOT_FOUND")
    assert outcome(seen(GROUP, 0, 0), "broker").description == "no error"
    assert outcome(seen(GROUP, 0, ending="reset"), "broker").description == "closed"
    assert outcome(seen(GROUP, 0, ending="closed"), "broker").description == "closed"
    assert outcome(seen("Metadata", 1), "broker") == Outcome("no answer")
    unreadable = replace(seen(GROUP, 0), replies=(b"\0\0\0\7",))
    assert outcome(unreadable, "broker").description == "a response that can't be read"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (seen(GROUP, 0, 16), seen(GROUP, 0, 0)),  # NOT_COORDINATOR: another one a moment later
        (seen(GROUP, 0, 35), seen(GROUP, 0, 69)),  # UNSUPPORTED_VERSION: it has no such thing
        (seen("Fetch", 4), seen("Fetch", 4, ending="closed")),  # a long poll
        (replace(seen(GROUP, 0, 0), facts=(("set_aside", True),)), seen(GROUP, 0, 69)),
        (replace(seen(GROUP, 0, 0), facts=(("session_failed", "x"),)), seen(GROUP, 0, 69)),
    ],
)
def test_what_may_be_otherwise_is_no_difference(one: Observation, other: Observation) -> None:
    assert difference(one, other, "broker", ALL) is None
    assert difference(other, one, "broker", ALL) is None


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (seen(GROUP, 0, 69), seen(GROUP, 0, 0), ("GROUP_ID_NOT_FOUND", "no error")),
        # these are so the next time, too
        (seen(GROUP, 0, 24), seen(GROUP, 0, 0), ("INVALID_GROUP_ID", "no error")),
        (seen("Heartbeat", 0, 2), seen("Heartbeat", 0, 0), ("CORRUPT_MESSAGE", "no error")),
        # neither has it
        (
            seen(GROUP, 0, 35),
            seen(GROUP, 0, 35, ending="closed"),
            ("UNSUPPORTED_VERSION", "UNSUPPORTED_VERSION, closed"),
        ),
        # is answered at once
        (seen("Metadata", 1), seen("Metadata", 1, ending="closed"), ("no answer", "closed")),
        (
            replace(seen(GROUP, 0, 0), facts=(("blamed", True),)),
            seen(GROUP, 0, 69),
            ("no error", "GROUP_ID_NOT_FOUND"),
        ),
    ],
)
def test_two_that_do_otherwise_differ(
    one: Observation, other: Observation, told: tuple[str, str]
) -> None:
    assert difference(one, other, "broker", ALL) == told
    assert difference(other, one, "broker", ALL) == (told[1], told[0])


@pytest.mark.parametrize(("versions", "told"), [(range(1), True), (range(1, 2), False)])
def test_a_version_that_one_does_not_offer_is_no_difference(versions: range, told: bool) -> None:
    key = specs.api(GROUP).key
    closed = seen(GROUP, 0, ending="closed")
    for taken in (({key: range(1)}, {key: versions}), ({key: versions}, {key: range(1)})):
        assert (difference(seen(GROUP, 0, 0), closed, "broker", taken) is not None) == told


def test_decoders_differ_in_what_they_refuse_and_in_what_they_read() -> None:
    refused, one, other = read(refused="x"), read(wrote="1"), read(wrote="2")
    assert difference(one, other, "decoder", ALL) == ("read", "read, as something else")
    assert difference(refused, one, "decoder", ALL) == ("refused", "read")
    assert difference(refused, read(refused="y"), "decoder", ALL) is None
    # what can be read and not written has nothing to compare
    assert difference(one, read(unwritten="x"), "decoder", ALL) is None
