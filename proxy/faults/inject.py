"""`inject`: the broker or the client gets one more message, that nobody sent.

acks=0: an injected one is not waited for.
Order: behind the message, or in the other direction at once.
In flight: an injected request is, until its answer is taken out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from barnabas.proxy.effects import Effects, Insert
from barnabas.proxy.matching.field_paths import FieldValue, fitting, node_at
from barnabas.proxy.matching.message import Message, Unable
from barnabas.proxy.matching.notation import api_key, api_schema
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.specs import api
from barnabas.specs.codec import Unfit
from barnabas.specs.frames import Direction, Frame, encode_frame
from barnabas.specs.headers import request_header_version
from barnabas.specs.layout import Layout


class Inject(Settings):
    """The receiver gets one more message, which nobody sent, behind the one that set it off; or (`direction`)
    the other side does. What a broker answers to an injected request is taken out.
    """

    api: Annotated[int, BeforeValidator(api_key), WithJsonSchema(api_schema())]
    """Name or key of its API."""
    version: Annotated[int, Field(ge=0, le=32767)]
    """Its version."""
    body: Mapping[str, Any] = Field(default={}, strict=False)
    """Its fields as in JSON; missing ones take their defaults."""
    direction: Direction | None = None
    """`request`: to the broker; `response`: to the client. As the message itself if absent."""
    correlation_id: int | None = None
    """If absent, that of the message."""

    only_kafka: ClassVar = True

    @model_validator(mode="after")
    def _exists(self) -> Self:
        low, high = api(self.api).versions
        if not low <= self.version <= high:
            raise ValueError(f"version: {api(self.api).name} has {low} to {high}")
        return self

    @property
    def field_values(self) -> Iterator[FieldValue]:
        """The values that it gives to fields."""
        yield FieldValue(("body",), "", self.body)

    def layout(self, key: int, direction: Direction, version: int) -> Layout:
        """Return the layout of what is sent on such a message."""
        return api(self.api).message(self.direction or direction).layout(self.version)


def inject(config: Inject, message: Message, roll: Roll) -> Effects:
    """Make the frame; nothing is left to chance. Raises Unable."""
    direction = config.direction or message.direction
    codec = api(config.api).message(direction).codec(config.version)
    node = node_at(codec.layout, ())
    assert node is not None  # noqa: S101 - the body itself
    header: dict[str, Any] = {
        "correlation_id": message.correlation_id
        if config.correlation_id is None
        else config.correlation_id
    }
    if direction == "request":
        header |= {"request_api_key": config.api, "request_api_version": config.version}
        if request_header_version(config.api, config.version):
            header["client_id"] = message.client_id
    try:
        body = fitting("body", dict(config.body), node)
        frame = encode_frame(Frame(direction, config.api, config.version, header, body))
    except Unfit as problem:
        raise Unable(str(problem)) from None
    return (Insert(direction, frame),)
