"""`inject`: the broker or the client gets an additional message that the other side did not send.

acks=0: the injected message is not waited for.
Order: after the message, or in the other direction at once.
In flight: an injected request: until its response is removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from barnabas.proxy.effects import Effects, Insert
from barnabas.proxy.matching.field_paths import FieldValue, fitted_body
from barnabas.proxy.matching.message import Message, Unable
from barnabas.proxy.matching.notation import api_key, api_schema
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.specs import api
from barnabas.specs.codec import Unfit
from barnabas.specs.frames import Direction
from barnabas.specs.headers import encode_header
from barnabas.specs.layout import Layout


class Inject(Settings):
    """The receiver gets an additional message after the matched one.

    With `direction` the other side can get it instead. The broker's response to an injected request is
    removed.
    """

    api: Annotated[int, BeforeValidator(api_key), WithJsonSchema(api_schema())]
    """Name or key of the additional message's API."""
    version: Annotated[int, Field(ge=0, le=32767)]
    """The version of the additional message."""
    body: Mapping[str, Any] = Field(default={}, strict=False)
    """The fields of the additional message as in JSON; missing ones take their defaults."""
    direction: Direction | None = None
    """`request`: to the broker; `response`: to the client. If absent, as the matched message."""
    correlation_id: int | None = None
    """If absent, the correlation id of the matched message."""

    only_kafka: ClassVar = True

    @model_validator(mode="after")
    def _exists(self) -> Self:
        low, high = api(self.api).versions
        if not low <= self.version <= high:
            raise ValueError(f"version: {api(self.api).name} has {low} to {high}")
        return self

    @property
    def field_values(self) -> Iterator[FieldValue]:
        """Yield the values that the settings give to fields."""
        yield FieldValue(("body",), "", self.body)

    def layout(self, key: int, direction: Direction, version: int) -> Layout:
        """Return the layout of the message that is injected after such a message."""
        return api(self.api).message(self.direction or direction).layout(self.version)


def inject(config: Inject, message: Message, roll: Roll) -> Effects:
    """Make the additional frame; no random draw.

    Raises:
        Unable: The body cannot be encoded.
    """
    direction = config.direction or message.direction
    message_type = direction, config.api, config.version
    given_id = config.correlation_id
    correlation_id = message.correlation_id if given_id is None else given_id
    codec = api(config.api).message(direction).codec(config.version)
    try:
        body = codec.encode(fitted_body(config.body, codec.layout))
        data = encode_header(*message_type, correlation_id, message.client_id) + body
    except Unfit as problem:
        raise Unable(str(problem)) from None
    return (Insert(direction, len(data).to_bytes(4) + data),)
