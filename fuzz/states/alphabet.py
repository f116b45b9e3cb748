"""The interface of alphabets: the valid requests of one protocol, and a client's memory between them."""

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
    """Remember nothing of a response."""


REFUSED: Final = "to be refused"
"""The event of what no state allows; no table has it."""

UNSENT: Final = "nothing to send"
"""The output of an input that a client can't send yet."""


class Input(NamedTuple):
    """A valid request.

    Attributes:
        name: The input's name.
        key: The API key.
        fields: Fields of its outermost structure that differ from `sessions.bodies`; None: the client can't
            send it yet.
        heard: Puts the response (with the name of its error) into the memory.
        event: Its event in the alphabet's table; "" for no step of the member.
        shown: The output in addition to the error.
        most: The newest version that is sent.
        sent_before: An input that is sent before it; its response shows when this one's can be trusted.
        sent_after: An input that is sent after it, since the broker goes on after its response; its response
            shows the end.
    """

    name: str
    key: int
    fields: Callable[[Memory], Mapping[str, Any] | None]
    heard: Callable[[Memory, Answer, str], None] = nothing
    event: str = ""
    shown: Callable[[Memory, Answer], str] = lambda _, __: ""
    most: int = 32767
    sent_before: Input | None = None
    sent_after: Input | None = None

    def offered(self, offered: Mapping[int, tuple[int, int]]) -> bool:
        """Return whether a broker offers a version of it that is sent here."""
        return self.key in offered and offered[self.key][0] <= self.most

    def body(self, version: int, memory: Memory) -> Mapping[str, Any] | None:
        """Return the request's body; None if the client can't send it yet."""
        fields = self.fields(memory)
        if fields is None:
            return None
        request_body = body(self.key, version, **fields)
        assert request_body is not None  # noqa: S101
        return request_body


class Alphabet(NamedTuple):
    """The inputs of a protocol.

    Attributes:
        name: The alphabet's name.
        description: For lists.
        needs: The APIs that the broker must offer.
        begins: What a client knows at first, given a new name.
        inputs: The inputs.
        table: The allowed steps.
        closes: The name of the input that releases what a broker keeps only few of.
        at_least: The oldest versions that the broker must offer, of APIs in `needs`.
        describes: The name of the input whose output describes the broker's state.
    """

    name: str
    description: str
    needs: tuple[int, ...]
    begins: Callable[[str], Memory]
    inputs: tuple[Input, ...]
    table: Table
    closes: str = ""
    at_least: Mapping[int, int] = {}
    describes: str = ""

    @property
    def input_names(self) -> list[str]:
        """Return the names of its inputs."""
        return [each.name for each in self.inputs]

    def missing(self, offered: Mapping[int, tuple[int, int]]) -> list[str]:
        """Return the APIs that it needs and a broker does not offer; none if the offer is unknown."""
        if not offered:
            return []
        newest = {key: offered[key][1] if key in offered else -1 for key in self.needs}
        return [
            f"{NAMES[key]} v{self.at_least[key]}" if key in self.at_least else NAMES[key]
            for key in self.needs
            if newest[key] < self.at_least.get(key, 0)
        ]

    def within(self, offered: Mapping[int, tuple[int, int]]) -> Alphabet | None:
        """Return it with the inputs that a broker offers; None if a needed one is missing."""
        if not offered:
            return self
        if self.missing(offered):
            return None
        return self._replace(inputs=tuple(each for each in self.inputs if each.offered(offered)))
