"""`replace`: the receiver gets another body in the message.

The body has fields as in JSON (`body`), or raw bytes (`hex`), which need not be a valid message. The header
stays.

acks=0: the changed request counts, as with `edit`.
Order: kept.
In flight: unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from barnabas.plural import plural
from barnabas.proxy.effects import Become, Effects
from barnabas.proxy.matching.field_paths import FieldValue, fitted_body
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
    """The receiver gets another body in the message.

    Give one of `body` and `hex`. If fields do not fit, the message stays unchanged; that is counted and
    reported.
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
    """The bytes of the body; they are not checked."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.body is None) == (self.hex is None):
            raise ValueError("give one of body and hex")
        return self

    @property
    def field_values(self) -> Iterator[FieldValue]:
        """Yield the values that the settings give to fields."""
        if self.body is not None:
            yield FieldValue(("body",), "", self.body)


def replace(config: Replace, message: Message, roll: Roll) -> Effects:
    """Replace the body; no random draw.

    Raises:
        Unable: The body cannot be encoded.
    """
    if config.hex is not None:
        body = bytes.fromhex(config.hex)
        return (Become(body, f"replace with {plural(len(body), 'byte')}"),)
    body = message.encoded(fitted_body(config.body or {}, message.codec().layout))
    return (Become(body, "replace the body"),)
