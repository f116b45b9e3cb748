"""`replace`: the receiver gets another body in the message's place: fields as in JSON (`body`), or bytes as
they are (`hex`), which need not be a message at all. The header stays.

acks=0: what counts is what leaves, as with `edit`.
Order: kept.
In flight: as without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from barnabas.plural import plural
from barnabas.proxy.effects import Become, Effects
from barnabas.proxy.matching.field_paths import FieldValue, fitting, node_at
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings, one_of


def _hex(text: str) -> str:
    try:
        bytes.fromhex(text)
    except ValueError:
        raise ValueError("hex: bytes are two hexadecimal digits each") from None
    return text


class Replace(Settings, json_schema_extra=one_of("body", "hex")):
    """The receiver gets another body in the message's place.

    Give one of `body` and `hex`. Fields that do not fit leave the message as it came, counted and shown.
    """

    body: Mapping[str, Any] | None = Field(default=None, strict=False)
    """The whole body, in the message's version; missing fields take their defaults."""
    hex: (
        Annotated[
            str,
            AfterValidator(_hex),
            WithJsonSchema({"type": "string", "examples": ["0001 ffff"]}),
        ]
        | None
    ) = None
    """The bytes of the body: nobody looks whether they mean anything."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.body is None) == (self.hex is None):
            raise ValueError("give one of body and hex")
        return self

    @property
    def field_values(self) -> Iterator[FieldValue]:
        """The values that it gives to fields."""
        if self.body is not None:
            yield FieldValue(("body",), "", self.body)


def replace(config: Replace, message: Message, roll: Roll) -> Effects:
    """Put another body in its place; nothing is left to chance. Raises Unable."""
    if config.hex is not None:
        body = bytes.fromhex(config.hex)
        return (Become(body, f"replace with {plural(len(body), 'byte')}"),)
    node = node_at(message.codec().layout, ())
    assert node is not None  # noqa: S101 - the body itself
    body = message.encoded(fitting("body", dict(config.body or {}), node))
    return (Become(body, "replace the body"),)
