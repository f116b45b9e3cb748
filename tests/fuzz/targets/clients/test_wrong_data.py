"""What a read_committed consumer delivers, next to what is committed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from barnabas.fuzz.bench_broker.broker import Broker
from barnabas.fuzz.bench_broker.cluster import TOPIC, Cluster
from barnabas.fuzz.bench_broker.contexts.registry import context_of
from barnabas.fuzz.bench_broker.contexts.transactions import LOGS
from barnabas.fuzz.bench_broker.offer import narrowed
from barnabas.fuzz.bench_broker.planted import PlantedResponse
from barnabas.fuzz.bench_broker.seeds import seeds
from barnabas.fuzz.cases.case import Case, Change, Recipe, shape_of
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.oracles.registry import ORACLES_BY_NAME
from barnabas.fuzz.targets.clients.limits import Limits
from barnabas.fuzz.targets.clients.registry import library
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.fuzz.targets.clients.wrong_data import ABORTED, SKIPPED, wrong_data
from barnabas.specs import api
from barnabas.specs.keys import FETCH
from tests.fuzz.observed import request

VERSION = 11
READ_BY_KAFKA_GO = 10
PATIENT = Limits(hung_s=60.0, patience_s=0.25)
VISIBLE = {log.name: log.visible for log in LOGS}
IN_FIRST = "responses[0].partitions[0]"


def _case(context: str, *changes: tuple[str, str], version: int = VERSION) -> Case:
    """Return a case of a context's Fetch: (mutator, path) of each change."""
    (seed,) = (seed for seed in seeds([(FETCH, version)]) if shape_of(seed.origin) == context)
    return cook(Recipe(seed, tuple(Change(mutator, path, 1) for mutator, path in changes)), 1)


def _asked(case: Case, isolation: int = 1, partitions: Sequence[int] = (0, 1)) -> Broker:
    """Return a broker that was asked for partitions from their beginning, and sent the case."""
    planted = PlantedResponse(case, FETCH, VERSION)
    broker = Broker(Cluster(), narrowed(FETCH, VERSION), planted, context=context_of(case))
    rows = [{"partition": number, "fetch_offset": 0} for number in partitions]
    body = {"isolation_level": isolation, "topics": [{"topic": TOPIC, "partitions": rows}]}
    layout = api(FETCH).request.layout(VERSION)
    broker.answer(request(FETCH, VERSION, layout.fitted(layout.defaults() | body))[4:])
    assert planted.served
    return broker


def _judged(
    case: Case, *partitions: Sequence[int], read_to: Sequence[int] = (0, 0)
) -> tuple[str, int, int] | None:
    """Return what is wrong with the offsets that were delivered of each partition."""
    broker = _asked(case)
    broker.read_to.update(enumerate(read_to))
    delivered: list[list[Any]] = [
        [number, offset, -1, None, None, []]
        for number, offsets in enumerate(partitions)
        for offset in offsets
    ]
    wrong = wrong_data(case, broker, delivered)
    return wrong and (wrong[0], *wrong[2:])


@pytest.mark.parametrize(
    ("offsets", "read_to", "wrong"),
    [
        ((3, 4), 8, None),
        ((), 0, None),  # the session ended before
        ((3,), 3, None),
        ((3, 4, 3, 4), 8, None),  # read again
        ((0, 1, 3, 4), 8, (ABORTED, 1, 0)),
        ((3, 4, 6), 8, (ABORTED, 1, 6)),
        ((3, 4, 5), 8, (ABORTED, 1, 5)),  # a marker
        ((4,), 3, (SKIPPED, 1, 3)),
        ((), 8, (SKIPPED, 1, 3)),
        ((3,), 8, (SKIPPED, 1, 4)),
    ],
)
def test_delivered_offsets(
    offsets: Sequence[int], read_to: int, wrong: tuple[str, int, int] | None
) -> None:
    case = _case("aborted-twice")
    assert VISIBLE["aborted-twice"] == (3, 4)
    assert _judged(case, (3, 4), offsets, read_to=(8, read_to)) == wrong


@pytest.mark.parametrize(
    ("changes", "partitions"),
    [
        ([("bytewise", "")], {0, 1}),
        ([("limits", "throttle_time_ms")], {0, 1}),
        ([("limits", "session_id")], {0, 1}),
        ([("limits", f"{IN_FIRST}.aborted_transactions[0].first_offset")], {1}),
        ([("elements_dropped", f"{IN_FIRST}.aborted_transactions[0]")], set()),
        ([("limits", f"{IN_FIRST}.partition_index")], set()),
        ([("counts", f"{IN_FIRST}.aborted_transactions.count")], set()),
        ([("repetition", "")], set()),
    ],
    ids=lambda value: " ".join(value[0]) if isinstance(value, list) else None,
)
def test_only_partitions_count_whose_records_a_case_leaves(
    changes: list[tuple[str, str]], partitions: set[int]
) -> None:
    case = _case("aborted", *changes)
    judged = {
        number
        for number in (0, 1)
        if _judged(case, *[[0] if number == each else [] for each in (0, 1)])
    }
    assert judged == partitions


FIRST: Final[list[list[Any]]] = [[0, 0, -1, None, None, []]]


def test_nothing_is_wrong_in_lists_that_no_broker_sends_or_without_read_committed() -> None:
    case, odd = _case("aborted"), _case("aborted-out-of-order")
    assert wrong_data(case, _asked(case), FIRST) == (ABORTED, "aborted", 0, 0)
    assert wrong_data(odd, _asked(odd), FIRST) is None
    assert wrong_data(case, _asked(case, isolation=0), FIRST) is None
    assert wrong_data(case, _asked(case), None) is None  # the program does not report records


def test_nothing_is_wrong_in_answers_to_other_requests_or_of_a_shrunk_seed() -> None:
    case = _case("aborted")
    assert wrong_data(case, _asked(case, partitions=(1,)), [[1, *FIRST[0][1:]]]) is None
    seed = case.recipe.seed
    codec = api(FETCH).response.codec(VERSION)
    values = codec.decode(seed.frame[4:])
    values["responses"][0]["partitions"][0]["aborted_transactions"] = []
    shrunk = replace(seed, frame=seed.frame[:4] + codec.encode(values))
    case = cook(Recipe(shrunk, ()), 1)
    assert wrong_data(case, _asked(case), FIRST) is None


@pytest.mark.needs_go("kafka-go@0.4.51")
@pytest.mark.timeout(300)
def test_a_library_that_delivers_aborted_records() -> None:
    """kafka-go ignores the list of aborted transactions: kafka-go#1332."""
    cases = [
        _case("aborted", version=READ_BY_KAFKA_GO)._replace(number=number) for number in range(3)
    ]
    with ClientTarget(library("kafka-go@0.4.51"), limits=PATIENT) as target:
        verdicts = [
            verdict
            for observation in target.run(cases)
            for verdict in ORACLES_BY_NAME["client-wrong-data"].judge(observation)
        ]
    assert {verdict.behaviour for verdict in verdicts} == {(ABORTED, "aborted")}
