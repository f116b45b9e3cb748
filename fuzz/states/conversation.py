"""One client at one broker: it sends inputs of an alphabet in whatever state it is, and says what came."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from barnabas.captures.kafka.errors import codes_in
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.sessions.session import Stage
from barnabas.fuzz.states.alphabet import UNSENT, Alphabet, Input
from barnabas.fuzz.targets.probing import WAITED, Prober, Unanswered
from barnabas.specs.error_codes import error_name
from barnabas.specs.groups import NONE

TRANSIENT: Final = frozenset(
    (
        "COORDINATOR_LOAD_IN_PROGRESS",
        "COORDINATOR_NOT_AVAILABLE",
        "NOT_COORDINATOR",
        "CONCURRENT_TRANSACTIONS",
        "UNKNOWN_TOPIC_OR_PARTITION",
    )
)
"""What a broker answers that is not there yet, or not done yet: it is asked again."""

PATIENCE: Final = 5.0
"""Seconds for which it is asked again."""

PAUSE: Final = 0.01

SILENCES: Final = 12
"""So often it waits in vain for an answer, a minute in all: a machine needs thousands."""


class Letters(Protocol):
    """An alphabet, as far as learning goes."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def input_names(self) -> Sequence[str]:
        """The names of its inputs."""
        ...


class Conversing(Protocol):
    """Whom it is learned of, as `Conversation`."""

    requests: int

    @property
    def alphabet(self) -> Letters:
        """What it is asked."""
        ...

    def anew(self) -> None:
        """The next conversation begins."""

    def close(self) -> None:
        """This one ends."""

    def say(self, name: str) -> str:
        """What an input is answered with."""
        ...


class Conversation:
    """Begins anew whenever it is told, with a name (of a group, of a transaction) that nobody had.

    sent is called for each request."""

    def __init__(
        self,
        prober: Prober,
        alphabet: Alphabet,
        offered: Mapping[int, tuple[int, int]],
        run: str,
        *,
        sent: Callable[[], None] = lambda: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.alphabet = alphabet
        self.requests = 0
        """Sent so far."""
        self._sent = sent
        self._prober = prober
        self._stage = Stage(offered)
        self._run = run
        self._number = 0
        self._sleep = sleep
        self._memory = alphabet.begins(run)
        self._asked: list[str] = []
        self._silences = 0
        self._inputs = {one.name: one for one in alphabet.inputs}

    def anew(self) -> None:
        """The next one begins."""
        self._number += 1
        self._memory = self.alphabet.begins(f"{self._run}-{self.alphabet.name}-{self._number}")
        self._asked.clear()

    def close(self) -> None:
        """Give back what a broker keeps only few of."""
        if self.alphabet.closes:
            self.say(self.alphabet.closes)

    def say(self, name: str) -> str:
        """What an input of the alphabet is answered with: its output.

        Raises CannotRun where the broker is gone."""
        one = self._inputs[name]
        self._asked.append(name)
        if one.behind is not None:
            self._until_lasting(one.behind)
        found = self._until_lasting(one)
        if one.again:
            self._until_lasting(one)
        return found

    def _until_lasting(self, one: Input) -> str:
        for _ in range(int(PATIENCE / PAUSE)):
            output = self._ask(one)
            if output not in TRANSIENT:
                break
            self._sleep(PAUSE)
        return output

    def _serves(self) -> None:
        """Raises CannotRun if the broker answers nothing any more."""
        probe = self._prober.probe()
        if not probe.answered:
            asked = ", ".join(self._asked)
            raise CannotRun(f"the broker no longer serves: {probe.problem}; it was asked {asked}")

    def _heard_nothing(self, one: Input, problem: str) -> None:
        """Raises CannotRun if that was so too often."""
        self._silences += WAITED in problem
        if self._silences >= SILENCES:
            before = ", ".join(self._asked[:-1]) or "nothing"
            waited = f"waited {self._silences} times in vain for an answer"
            raise CannotRun(
                f"{self.alphabet.name}: {waited}, at last to {one.name} behind {before}"
            )

    def _ask(self, one: Input) -> str:
        version = self._stage.version(one.key, one.most)
        body = one.body(version, self._memory)
        if body is None:
            return UNSENT
        self.requests += 1
        self._sent()
        try:
            answer = self._prober.ask(one.key, version, body)
        except Unanswered as problem:
            self._serves()
            self._heard_nothing(one, str(problem))
            return f"unanswered: {problem}"
        codes = codes_in(answer, one.key, version)
        error = error_name(codes[0]) if codes else NONE
        one.heard(self._memory, answer, error)
        return ", ".join(filter(None, (error, one.shown(answer))))
