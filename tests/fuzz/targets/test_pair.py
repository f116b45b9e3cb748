"""Two targets side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Self

import pytest

from barnabas.fuzz.cases.case import Case, Recipe, Role
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.oracles.differing import DIFFERING
from barnabas.fuzz.targets.pair import DOUBTED, PairTarget, beside
from barnabas.fuzz.targets.registry import target_of
from barnabas.specs.keys import FIND_COORDINATOR, INIT_PRODUCER_ID
from tests.fuzz.observed import case as case_of
from tests.fuzz.observed import request
from tests.fuzz.targets.test_outcomes import GROUP, seen

Answers = Callable[[int], int]
"""The error code of the n-th case that a target gets."""


class Fake:
    at_once = 100

    def __init__(self, name: str, answers: Answers, role: Role = "broker") -> None:
        self.name, self.role, self.answers = name, role, answers
        self.ran: list[int] = []
        self.versions: dict[int, range] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.ran.append(-1)

    def takes(self) -> dict[int, range]:
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
    return beside(Fake("a", first), other), other


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
    assert other.ran == [0, 1, 2, 0, -1]


def test_a_difference_that_is_gone_the_next_time_is_chance_and_is_not_tried_for_ever() -> None:
    # the batch differs; what is run again alone does not
    target, other = pair(lambda n: 0, lambda n: 69 if n <= 10 else 0)
    assert told(target, 10) == []
    assert len(other.ran) == 10 + DOUBTED + 1


def test_it_takes_what_both_take() -> None:
    one, other = Fake("a", lambda n: 0), Fake("b", lambda n: 0)
    one.versions, other.versions = {3: range(10), 9: range(2)}, {3: range(4, 14), 8: range(1)}
    with beside(one, other) as target:
        assert target.takes() == {3: range(4, 10)}
    other.versions = {}
    with beside(one, other) as target:
        assert target.takes() == one.versions


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("embedded vs decoder:specs", "can't be compared"),
        ("embedded vs client:kafka-python@2.3.1", "two brokers, two decoders or two clients"),
        ("embedded vs embedded vs embedded", "at most two targets can be compared"),
        ("embedded vs nothing:1", "unknown kind of target 'nothing'"),
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
    with target_of("apache:4.3.1 vs embedded", False) as target:
        assert target.role == "broker"
        found = list(
            target.run([case_of(request(INIT_PRODUCER_ID, 0, body)), case_of(same, number=1)])
        )
    (verdict,) = [one for seen in found for one in DIFFERING.judge(seen)]
    assert verdict.behaviour == ("InitProducerId", "INVALID_TRANSACTION_TIMEOUT", "no error")
