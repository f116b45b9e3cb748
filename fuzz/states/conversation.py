"""One client of one broker: it sends inputs of an alphabet in any state, and returns the outputs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from barnabas.captures.kafka.errors import codes_in
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.sessions.session import Stage
from barnabas.fuzz.states.alphabet import UNSENT, Alphabet, Input
from barnabas.fuzz.targets.prober import WAITED, Prober, Unanswered
from barnabas.specs import Malformed, Unfit
from barnabas.specs.error_codes import error_name
from barnabas.specs.groups import NONE

TRANSIENT: Final = frozenset(
    (
        "COORDINATOR_LOAD_IN_PROGRESS",
        "COORDINATOR_NOT_AVAILABLE",
        "LEADER_NOT_AVAILABLE",
        "NOT_COORDINATOR",
        "NOT_LEADER_OR_FOLLOWER",
        "CONCURRENT_TRANSACTIONS",
        "UNKNOWN_TOPIC_OR_PARTITION",
    )
)
"""Errors of a broker that is not ready or not done yet: the request is sent again."""

PATIENCE: Final = 5.0
"""Seconds for which a request is sent again."""

PAUSE: Final = 0.01

SILENCES: Final = 12
"""Waits in vain after which learning ends, a minute in all: a machine needs thousands of requests.

A response is missing, or an error that should pass lasts.
"""

INCOMPLETE: Final = "incomplete response"
"""The output if a response lacks what was asked for."""


class InputAlphabet(Protocol):
    """An alphabet, as far as learning needs it."""

    @property
    def name(self) -> str:
        """Return the alphabet's name."""
        ...

    @property
    def input_names(self) -> Sequence[str]:
        """Return the names of its inputs."""
        ...


class Learnable(Protocol):
    """A system that can be learned, as `Conversation`."""

    requests: int

    @property
    def alphabet(self) -> InputAlphabet:
        """Return the alphabet."""
        ...

    def restart(self) -> None:
        """Begin the next conversation."""

    def close(self) -> None:
        """End the conversation."""

    def say(self, name: str) -> str:
        """Send an input and return its output."""
        ...


class Conversation:
    """A conversation, restarted with a new name (of a group, of a transaction).

    sent: called for each request.
    """

    def __init__(
        self,
        prober: Prober,
        alphabet: Alphabet,
        offered: Mapping[int, tuple[int, int]],
        run: str,
        *,
        sent: Callable[[], None] = lambda: None,
    ) -> None:
        self.alphabet = alphabet
        self.requests = 0
        """Requests so far."""
        self._sent = sent
        self._prober = prober
        self._stage = Stage(offered)
        self._run = run
        self._number = 0
        self._memory = alphabet.begins(run)
        self._asked: list[str] = []
        self._silences = 0
        self._inputs = {given_input.name: given_input for given_input in alphabet.inputs}

    def restart(self) -> None:
        """Begin the next conversation."""
        self._number += 1
        self._memory = self.alphabet.begins(f"{self._run}-{self.alphabet.name}-{self._number}")
        self._asked.clear()

    def close(self) -> None:
        """Release what a broker keeps only few of."""
        if self.alphabet.closes:
            self.say(self.alphabet.closes)

    def say(self, name: str) -> str:
        """Send an input and return its output. Raises CannotRun if the broker is gone."""
        given_input = self._inputs[name]
        self._asked.append(name)
        self._send_before(given_input)
        output = self._until_lasting(given_input)
        if given_input.sent_after is not None:
            self._until_lasting(given_input.sent_after)
        return output

    def _send_before(self, given_input: Input) -> None:
        if given_input.sent_before is not None:
            self._send_before(given_input.sent_before)
            self._until_lasting(given_input.sent_before)

    def _until_lasting(self, given_input: Input) -> str:
        for _ in range(int(PATIENCE / PAUSE)):
            output = self._ask(given_input)
            if output not in TRANSIENT:
                return output
            time.sleep(PAUSE)
        self._waited_in_vain(given_input, output)
        return output

    def _serves(self) -> None:
        """Check that the broker still answers a probe. Raises CannotRun."""
        probe = self._prober.probe()
        if not probe.answered:
            requests = ", ".join(self._asked)
            raise CannotRun(
                f"the broker no longer serves: {probe.problem}; its requests were {requests}"
            )

    def _waited_in_vain(self, given_input: Input, output: str) -> None:
        """Count a missing response, or an error that lasts. Raises CannotRun after too many."""
        self._silences += 1
        if self._silences >= SILENCES:
            before = ", ".join(self._asked[:-1]) or "nothing"
            raise CannotRun(
                f"waited {self._silences} times in vain, "
                f"at last for {given_input.name} after {before}: {output}"
            )

    def _ask(self, given_input: Input) -> str:
        version = self._stage.version(given_input.key, given_input.most)
        body = given_input.body(version, self._memory)
        if body is None:
            return UNSENT
        self.requests += 1
        self._sent()
        try:
            answer = self._prober.ask(given_input.key, version, body)
        except Unanswered as problem:
            self._serves()
            output = f"unanswered: {problem}"
            if WAITED in output:
                self._waited_in_vain(given_input, output)
            return output
        except Unfit:  # a response had null where the request needs a value
            return UNSENT
        codes = codes_in(answer, given_input.key, version)
        error = error_name(codes[0]) if codes else NONE
        try:
            given_input.heard(self._memory, answer, error)
            shown = given_input.shown(self._memory, answer)
        except (LookupError, TypeError, Malformed):
            return INCOMPLETE
        return ", ".join(filter(None, (error, shown)))
