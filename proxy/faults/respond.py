"""`respond`: the proxy answers the request, and the broker never gets it.

The response has an error on every level where that API has one, for everything that the request names (a test
compares it with Kafka's own classes), or a `body`. A matched response is replaced.

acks=0: removed, without a response.
Order: the response leaves in the client's order.
In flight: until the response leaves, though no byte of the request leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from barnabas.proxy.effects import Answer, Become, Effects
from barnabas.proxy.error_response import error_response
from barnabas.proxy.faults.edit import Path
from barnabas.proxy.matching.contents import has_errors
from barnabas.proxy.matching.field_paths import FieldValue, fitted_body, set_at
from barnabas.proxy.matching.message import Message, Unable
from barnabas.proxy.matching.notation import ERROR_SCHEMA, error_code
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.specs import api
from barnabas.specs.codec import Unfit
from barnabas.specs.frames import Direction
from barnabas.specs.layout import Layout


class Respond(Settings):
    """The proxy answers the request; the broker never gets it. A matched response is replaced.

    The response leaves when it is its turn, and has an entry for everything that the request names. A Produce
    with acks=0 is removed, and gets no response, as from a broker.
    """

    error: Annotated[
        int,
        BeforeValidator(error_code),
        WithJsonSchema(ERROR_SCHEMA),
    ] = 0
    """Name or code of an error; every error code of the response gets it."""
    set: Mapping[Path, Any] = Field(default={}, strict=False)
    """Path -> another value in the response (`throttle_time_ms: 500`)."""
    body: Mapping[str, Any] | None = Field(default=None, strict=False)
    """The whole body instead; missing fields take their defaults."""

    only_kafka: ClassVar = True

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.body is not None and (self.error or self.set):
            raise ValueError("give body alone, or error and set")
        return self

    @property
    def field_values(self) -> Iterator[FieldValue]:
        """Yield the values that the settings give to fields."""
        for path, value in self.set.items():
            yield FieldValue(("set", path), path, value)
        if self.body is not None:
            yield FieldValue(("body",), "", self.body)

    def layout(self, key: int, direction: Direction, version: int) -> Layout:
        """Return the layout of the response to such a message."""
        return api(key).response.layout(version)

    def applies_to(self, key: int, direction: Direction, version: int) -> bool:
        """Return whether the response to a message can have the error that the settings give."""
        if self.error and self.body is None:
            return direction == "request" and has_errors(key, "response", version)
        return True


def respond(config: Respond, message: Message, roll: Roll) -> Effects:
    """Make the response; no random draw.

    Raises:
        Unable: The response cannot be encoded, or an error is given for a response.
    """
    codec = api(message.key).response.codec(message.version)
    if config.body is not None:
        values = fitted_body(config.body, codec.layout)
    elif message.direction == "response":
        values = message.values()
    else:
        values = error_response(message.key, message.version, message.values(), config.error)
    if config.body is None and message.direction == "response" and config.error:
        raise Unable(
            "respond with an error applies to requests: match direction: request, or use edit"
        )
    for path, value in config.set.items():
        set_at(values, codec.layout, path, value)
    try:
        body = codec.encode(values)
    except Unfit as problem:
        raise Unable(str(problem)) from None
    if message.direction == "response":
        return (Become(body, "answered by the proxy"),)
    return (Answer(body),)
