"""What comes of alarms, without clients: a function in the place of second looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Any

from barnabas.fuzz.answering.seeds import seeds
from barnabas.fuzz.cases.case import Case, Change, Recipe
from barnabas.fuzz.cases.observation import SPINS, Observation, Probe
from barnabas.fuzz.targets.clients.alarms import Kind
from barnabas.fuzz.targets.clients.confirming import Confirming

SEED, *_ = seeds([(3, 0)])
LIMIT = 1 << 30


class Later(Executor):
    """Does what it is given when it is told to."""

    def __init__(self) -> None:
        self.given: list[Callable[[], None]] = []

    def submit(self, what: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.given.append(lambda: future.set_result(what(*arguments, **named)))
        return future

    def work(self) -> None:
        """Do all that it has by now."""
        given, self.given = self.given, []
        for one in given:
            one()


def _seen(number: int, mutator: str, *, hangs: bool = True, spins: bool = False) -> Observation:
    recipe = Recipe(SEED, (Change(mutator, "topics[0].name", 0, ""),))
    probe = Probe(False, 2000.0, "a session had not ended") if hangs else None
    facts = ((SPINS, True),) if spins else ()
    return Observation(
        Case(number, recipe, ()), ending="open", took_ms=1.0, probe=probe, facts=facts
    )


def _looks(alone: Callable[[Sequence[Case]], Observation]) -> tuple[Confirming, Later, set[Kind]]:
    threads, confirmed = Later(), set[Kind]()
    return Confirming(threads, confirmed, alone, LIMIT), threads, confirmed


def _confirmed(observation: Observation) -> object:
    return dict(observation.facts)["confirmed"]


def test_alarms_alike_wait_for_the_one_that_is_looked_at() -> None:
    looks, threads, _ = _looks(lambda some: _seen(some[-1].number, "nulls"))
    for place in range(3):
        assert looks.see(place, _seen(place, "nulls"), []) is None
    assert (len(looks), len(threads.given)) == (1, 1)
    assert not list(looks.ended())
    threads.work()
    found = dict(looks.ended())
    assert list(found) == [0, 1, 2]
    assert all(_confirmed(one) for (one,) in found.values())
    assert not threads.given
    assert looks.see(3, _seen(3, "nulls"), []) is not None


def test_each_alarm_is_looked_at_while_none_of_its_kind_is_confirmed() -> None:
    looks, threads, confirmed = _looks(lambda some: _seen(some[-1].number, "nulls", hangs=False))
    for place in range(2):
        assert looks.see(place, _seen(place, "nulls"), []) is None
    threads.work()
    ((place, (first,)),) = looks.ended()
    assert (place, _confirmed(first), first.probe) == (
        0,
        False,
        None,
    )  # what it did with all its time
    assert len(looks) == 1
    threads.work()
    assert [place for place, _ in looks.ended()] == [1]
    assert not confirmed
