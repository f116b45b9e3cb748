"""A broker's Mealy machine in an alphabet, by active automata learning (AALpy; Kearns and Vazirani's).

Each input is sent in each state. Whether there are more states is tried by random walks from each: what is
learned is what these saw, no proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from random import Random
from typing import Any, Final

from aalpy.base import SUL, Oracle
from aalpy.learning_algs import run_KV

from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.states.conversation import Conversing
from barnabas.fuzz.states.machine import Machine, Step
from barnabas.fuzz.states.walking import Way, walk

STATES: Final = 40
"""More than that are not learned: where an answer depends on how many there were, there is no end of them."""


class _Broker(SUL):  # type: ignore[misc]
    """As the library asks it."""

    def __init__(self, conversation: Conversing) -> None:
        super().__init__()
        self._conversation = conversation

    def pre(self) -> None:
        self._conversation.anew()

    def post(self) -> None:
        self._conversation.close()

    def step(self, letter: str) -> str:
        return self._conversation.say(letter)


class _Walks(Oracle):  # type: ignore[misc]
    """Is what is supposed right? Tried by random walks from each state, so many a state in all, and by the
    inputs that show what would be wrong with it: no finding is of the machine only."""

    def __init__(
        self,
        names: list[str],
        sul: SUL,
        ways: Callable[[], Way],
        walks: int,
        doubted: Callable[[Any], Iterable[Way]],
    ) -> None:
        super().__init__(names, sul)
        self._random_way, self._walks, self._doubted = ways, walks, doubted
        self._walked: Counter[Way] = Counter()

    def find_cex(self, hypothesis: Any) -> Way | None:
        return next(
            filter(None, map(partial(self._wrong, hypothesis), self._ways(hypothesis))), None
        )

    def _ways(self, hypothesis: Any) -> Iterator[Way]:
        for state in hypothesis.states:
            prefix = tuple(state.prefix)
            while self._walked[prefix] < self._walks:
                self._walked[prefix] += 1
                yield prefix + self._random_way()
        yield from self._doubted(hypothesis)

    def _wrong(self, hypothesis: Any, way: Way) -> Way | None:
        """The inputs up to the first answer that was not supposed."""
        answers = self.sul.query(way)
        supposed = hypothesis.execute_sequence(hypothesis.initial_state, way)
        ends = (
            end
            for end, pair in enumerate(zip(answers, supposed, strict=True))
            if pair[0] != pair[1]
        )
        end = next(ends, None)
        return None if end is None else way[: end + 1]


def learn(
    broker: str,
    conversation: Conversing,
    random: Random,
    *,
    doubted: Callable[[Machine], Iterable[Way]] = lambda _: (),
    walks: int = 20,
    length: int = 8,
) -> Machine:
    """Learn it: what is supposed is believed behind `walks` random ones of `length` inputs from each state,
    and the ways that are `doubted`.

    Raises CannotRun where the same inputs were answered in two ways: there is no such machine."""
    names = list(conversation.alphabet.input_names)

    def machine(hypothesis: Any) -> Machine:
        ways = walk(
            hypothesis.initial_state,
            lambda state, _: ((one, state.transitions[one]) for one in names),
        )
        number = {state: place for place, state in enumerate(ways)}
        steps = (
            {one: Step(state.output_fun[one], number[state.transitions[one]]) for one in names}
            for state in ways
        )
        whole = len(ways) < STATES
        return Machine(broker, tuple(ways.values()), tuple(steps), whole, conversation.requests)

    sul = _Broker(conversation)
    oracle = _Walks(
        names,
        sul,
        lambda: tuple(random.choices(names, k=length)),
        walks,
        lambda hypothesis: doubted(machine(hypothesis)),
    )
    try:
        found = run_KV(names, sul, oracle, "mealy", max_learning_rounds=STATES, print_level=0)
    except SystemExit as problem:  # so the library ends where it meets two answers
        raise CannotRun(_two_answers(conversation.alphabet.name, str(problem))) from None
    return machine(found)


def _two_answers(alphabet: str, said: str) -> str:
    lines = dict(line.partition(": ")[::2] for line in said.splitlines())
    return (
        f"{alphabet}: the same requests were answered in two ways ({lines.get('Conflict detected', '?')}) "
        f"behind {lines.get('Error inserting', '?')}"
    )
