"""Toxics as the API has them: what they are called, which stream they are in, their attributes.

The types and their attributes: https://github.com/Shopify/toxiproxy#toxics. `kafka` is barnabas' own: its
`rule` is one of a scenario, see `barnabas.proxy.scenario`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from barnabas.proxy.toxiproxy.bodies import Fields, read, take
from barnabas.proxy.toxiproxy.errors import INVALID_STREAM, INVALID_TYPE, ApiError

Stream = Literal["upstream", "downstream"]
"""From the client to the upstream, or back."""

STREAMS: Final[tuple[Stream, ...]] = ("upstream", "downstream")

KAFKA: Final = "kafka"

_TOXIC: Final[Fields] = {"name": str, "type": str, "stream": str, "toxicity": float}

TYPES: Final[dict[str, Fields]] = {
    "noop": {},
    "latency": {"latency": int, "jitter": int},
    "bandwidth": {"rate": int},
    "slow_close": {"delay": int},
    "timeout": {"timeout": int},
    "reset_peer": {"timeout": int},
    "slicer": {"average_size": int, "size_variation": int, "delay": int},
    "limit_data": {"bytes": int},
    KAFKA: {"rule": dict},
}
"""The attributes of each type, in order."""


@dataclass(frozen=True, slots=True)
class Toxic:
    """One toxic of a proxy."""

    name: str
    type: str
    stream: str
    """As it was given, in whatever case."""
    toxicity: float
    """The share of connections that it acts on."""
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def direction(self) -> Stream:
        """The stream that is meant."""
        return "upstream" if self.stream.lower() == "upstream" else "downstream"

    def shown(self) -> dict[str, Any]:
        """As answers have it."""
        return {
            "attributes": self.attributes,
            "name": self.name,
            "type": self.type,
            "stream": self.stream,
            "toxicity": self.toxicity,
        }


def created(body: bytes) -> Toxic:
    """The toxic that a request asks for; its attributes are to be read when its name is found to be free.

    Raises ApiError.
    """
    given: dict[str, Any] = {"name": "", "type": "", "stream": "downstream", "toxicity": 1.0}
    take(given, read(body), {**_TOXIC, "attributes": dict}, "the toxic")
    if given["stream"].lower() not in STREAMS:
        raise ApiError(*INVALID_STREAM)
    if given["type"] not in TYPES:
        raise ApiError(*INVALID_TYPE)
    name = given["name"] or f"{given['type']}_{given['stream']}"
    toxic = Toxic(name, given["type"], given["stream"], given["toxicity"])
    fields = TYPES[toxic.type].items()
    return replace(toxic, attributes={name: type_() for name, type_ in fields})


def with_attributes(toxic: Toxic, body: bytes) -> Toxic:
    """Return the toxic with the attributes and the toxicity of a request. Raises ApiError."""
    given: dict[str, Any] = {"attributes": None, "toxicity": toxic.toxicity}
    take(given, read(body), {"attributes": dict, "toxicity": float}, "the toxic")
    attributes = dict(toxic.attributes)
    take(attributes, given["attributes"], TYPES[toxic.type], "attributes")
    return replace(toxic, attributes=attributes, toxicity=given["toxicity"])
