"""A learner of Mealy machines by active automata learning (AALpy; Kearns and Vazirani).

Each input is sent in each state. Random walks from each state search further states: the machine is what
these showed, not a proof.
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
from barnabas.fuzz.states.conversation import Learnable
from barnabas.fuzz.states.machine import InputPath, Machine, Step, walk

STATES: Final = 40
"""The maximal number of states: where a response depends on a count, there is no end of them."""


class _Broker(SUL):  # type: ignore[misc]
    """A system under learning, as the library wants it."""

    def __init__(self, conversation: Learnable) -> None:
        super().__init__()
        self._conversation = conversation

    def pre(self) -> None:
        self._conversation.restart()

    def post(self) -> None:
        self._conversation.close()

    def step(self, letter: str) -> str:
        return self._conversation.say(letter)


class _Walks(Oracle):  # type: ignore[misc]
    """An equivalence oracle.

    It tries random walks from each state, `walks` in all, and the inputs that show deviations, so that no
    finding is the machine's alone.
    """

    def __init__(
        self,
        names: list[str],
        sul: SUL,
        random_path: Callable[[], InputPath],
        walks: int,
        doubted: Callable[[Any], Iterable[InputPath]],
    ) -> None:
        super().__init__(names, sul)
        self._random_way, self._walks, self._doubted = random_path, walks, doubted
        self._walked: Counter[InputPath] = Counter()

    def find_cex(self, hypothesis: Any) -> InputPath | None:
        return next(
            filter(None, map(partial(self._wrong, hypothesis), self._ways(hypothesis))), None
        )

    def _ways(self, hypothesis: Any) -> Iterator[InputPath]:
        for state in hypothesis.states:
            prefix = tuple(state.prefix)
            while self._walked[prefix] < self._walks:
                self._walked[prefix] += 1
                yield prefix + self._random_way()
        yield from self._doubted(hypothesis)

    def _wrong(self, hypothesis: Any, path: InputPath) -> InputPath | None:
        """Return the inputs up to the first unexpected output."""
        answers = self.sul.query(path)
        supposed = hypothesis.execute_sequence(hypothesis.initial_state, path)
        differing_lengths = (
            end
            for end, pair in enumerate(zip(answers, supposed, strict=True))
            if pair[0] != pair[1]
        )
        end = next(differing_lengths, None)
        return None if end is None else path[: end + 1]


def learn(
    broker: str,
    conversation: Learnable,
    random: Random,
    *,
    doubted: Callable[[Machine], Iterable[InputPath]] = lambda _: (),
    walks: int = 20,
    length: int = 8,
) -> Machine:
    """Learn a machine.

    Args:
        broker: The broker's name.
        conversation: The system.
        random: The random generator.
        doubted: Returns inputs that must be tried before a machine is trusted.
        walks: Random walks from each state.
        length: Inputs of a walk.

    Raises:
        CannotRun: The same inputs had two outputs: there is no such machine.
    """
    names = list(conversation.alphabet.input_names)

    def machine(hypothesis: Any) -> Machine:
        paths = walk(
            hypothesis.initial_state,
            lambda state, _: ((name, state.transitions[name]) for name in names),
        )
        number = {state: index for index, state in enumerate(paths)}
        steps = (
            {name: Step(state.output_fun[name], number[state.transitions[name]]) for name in names}
            for state in paths
        )
        whole = len(paths) < STATES
        return Machine(broker, tuple(paths.values()), tuple(steps), whole, conversation.requests)

    sul = _Broker(conversation)
    oracle = _Walks(
        names,
        sul,
        lambda: tuple(random.choices(names, k=length)),
        walks,
        lambda hypothesis: doubted(machine(hypothesis)),
    )
    try:
        model = run_KV(names, sul, oracle, "mealy", max_learning_rounds=STATES, print_level=0)
    except SystemExit as problem:  # the library exits if equal inputs have two outputs
        raise CannotRun(_two_answers(str(problem))) from None
    return machine(model)


def _two_answers(output: str) -> str:
    lines = dict(line.partition(": ")[::2] for line in output.splitlines())
    inputs = lines.get("Error inserting", "?").strip("(,)").replace("'", "")
    return (
        f"the same requests were answered in two ways ({lines.get('Conflict detected', '?')}) "
        f"after {inputs}"
    )
