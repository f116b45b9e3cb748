"""Two clients of the tests' own, of which one has a bug: it is found, and nothing else is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from barnabas.fuzz.bench_broker.seeds import seeds
from barnabas.fuzz.cases.case import Case, Recipe, shape_of
from barnabas.fuzz.cases.observation import SET_ASIDE, Observation
from barnabas.fuzz.engine.case_maker import Maker
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.mutators.registry import MUTATORS_BY_NAME
from barnabas.fuzz.oracles.registry import ORACLES_BY_NAME
from barnabas.fuzz.targets.clients.limits import Limits
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.fuzz.targets.registry import compared
from barnabas.peers.clients.client import Client, Program
from barnabas.specs.keys import FETCH

CLIENTS_DIFFER = ORACLES_BY_NAME["clients-differ"]

OWN = Path(__file__).with_name("comparing_client.py")
ASKING = Path(__file__).with_name("own_client.py")
PATIENT = Limits(hung_s=60.0, starts_s=90.0)
SEED = next(one for one in seeds([(FETCH, 4)]) if shape_of(one.origin) == "gzip")

pytestmark = pytest.mark.slow("processes of two clients")


def one(mode: str, program: Path = OWN) -> ClientTarget:
    line = [sys.executable, str(program), *filter(None, [mode])]
    result = Client("own", mode or "right", lambda: Program(line))
    return ClientTarget(result, limits=PATIENT, side_by_side=2)


def valid(number: int = 0) -> Case:
    return Case(number, Recipe(SEED, ()), (len(SEED.frame).to_bytes(4, "big") + SEED.frame,))


def broken(mutator: str, count: int) -> list[Case]:
    maker = Maker("1", (SEED,), (MUTATORS_BY_NAME[mutator],))
    results = [case for case in maker.cases(range(count)) if len(case.recipe.changes) == 1]
    assert results
    return results


def told(observations: list[Observation]) -> set[tuple[str, ...]]:
    return {verdict.behaviour for seen in observations for verdict in CLIENTS_DIFFER.judge(seen)}


def test_who_takes_what_the_other_refuses_is_told() -> None:
    with compared(one("careless"), one("")) as pair:
        results = list(pair.run([valid(), *broken("checksums", 6)]))
    assert told(results) == {("Fetch: the second refuses, it reports CORRUPT", "records.crc")}
    (words,) = {verdict.message for seen in results for verdict in CLIENTS_DIFFER.judge(seen)}
    assert words == "own careless accepts what own right refuses: it reports CORRUPT"


def test_who_reads_again_was_given_nothing_by_the_case() -> None:
    with compared(one("leaving"), one("careless")) as pair:
        results = list(pair.run(broken("checksums", 6)))
    assert told(results) == {("Fetch: the first refuses, it delivers nothing", "records.crc")}


def test_other_records_of_a_valid_answer_are_told_once_and_its_cases_are_set_aside() -> None:
    with compared(one("shifting"), one("")) as pair:
        results = list(pair.run(broken("checksums", 3)))
        again = list(pair.run([valid(number=9)]))
    assert told(results) == told(again) == {("Fetch: records of another offset",)}
    (case,) = {seen.case.recipe for seen in results if [*CLIENTS_DIFFER.judge(seen)]}
    assert case == Recipe(SEED, ())
    assert sum(SET_ASIDE in dict(seen.facts) for seen in results) == len(results) - 1


def test_two_that_are_right_agree() -> None:
    with compared(one(""), one("")) as pair:
        assert pair.supported_versions() == {FETCH: [4]}
        assert pair.common.endswith("both for 1, in 1 version")
        assert not told(list(pair.run([valid(), *broken("counts", 8)])))


def test_who_asks_for_nothing_that_the_other_does_can_not_be_compared() -> None:
    with (
        compared(one(""), one("", ASKING)) as pair,
        pytest.raises(CannotRun, match="no version of an API in common"),
    ):
        pair.supported_versions()
