"""What an alphabet is: the valid requests of one protocol, and what a client remembers between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from barnabas.fuzz.sessions.bodies import body
from barnabas.specs.groups import Table
from barnabas.specs.registry import NAMES

Memory = dict[str, Any]
"""What a client knows, by the names of fields: its member id, generation, producer id, ..."""

Answer = Mapping[str, Any]
"""A decoded response."""


def nothing(_: Memory, __: Answer, ___: str) -> None:
    """Nothing is remembered of an answer."""


REFUSED: Final = "to be refused"
"""The event of what no state allows: no table has it."""

UNSENT: Final = "nothing to send"
"""The output of an input that a client can't send yet."""


class Input(NamedTuple):
    """A valid request. fields: those of its outermost structure that differ from `sessions.bodies`; None: a
    client that knows no more can't send it. heard: puts what the answer (with the name of its error) says
    into the memory. event: what it is in the alphabet's table; "": no step of the member's own. shown: what
    is an output beside the error. most: the newest version that is sent. again: it is sent once more, since
    the broker goes on behind its answer; the second says when it is done. behind: what is sent before it,
    and is answered when it can be believed."""

    name: str
    key: int
    fields: Callable[[Memory], Mapping[str, Any] | None]
    heard: Callable[[Memory, Answer, str], None] = nothing
    event: str = ""
    shown: Callable[[Answer], str] = lambda _: ""
    most: int = 32767
    again: bool = False
    behind: Input | None = None

    def offered(self, offered: Mapping[int, tuple[int, int]]) -> bool:
        """Whether a broker takes a version of it that is sent here."""
        return self.key in offered and offered[self.key][0] <= self.most

    def body(self, version: int, memory: Memory) -> Mapping[str, Any] | None:
        """The request's body; None if there is none yet."""
        fields = self.fields(memory)
        if fields is None:
            return None
        found = body(self.key, version, **fields)
        assert found is not None  # noqa: S101
        return found


class Alphabet(NamedTuple):
    """The inputs of a protocol. begins: what a client knows at first, of a name that nobody had. needs: what
    the broker must offer. table: the steps that are allowed. closes: the name of the input that gives back
    what a broker keeps only few of."""

    name: str
    about: str
    needs: tuple[int, ...]
    begins: Callable[[str], Memory]
    inputs: tuple[Input, ...]
    table: Table
    closes: str = ""

    @property
    def input_names(self) -> list[str]:
        """The names of its inputs."""
        return [one.name for one in self.inputs]

    def missing(self, offered: Mapping[int, tuple[int, int]]) -> list[str]:
        """The APIs that it needs and a broker does not offer (nothing: it does not say, and has all)."""
        return [NAMES[key] for key in self.needs if offered and key not in offered]

    def within(self, offered: Mapping[int, tuple[int, int]]) -> Alphabet | None:
        """With the inputs that a broker offers; None if any that is needed is missing."""
        if not offered:
            return self
        if self.missing(offered):
            return None
        return self._replace(inputs=tuple(one for one in self.inputs if one.offered(offered)))
