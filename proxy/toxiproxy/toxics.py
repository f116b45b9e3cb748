"""Toxics as the API has them: their names, types, streams and attributes.

The types and their attributes: https://github.com/Shopify/toxiproxy#toxics. `kafka` is barnabas' own type:
its `rule` is a rule of a scenario, see `barnabas.proxy.scenario`.
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
    """The stream as it was given, in any case."""
    toxicity: float
    """The share of connections on which the toxic acts."""
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def direction(self) -> Stream:
        """Return the stream of the toxic."""
        return "upstream" if self.stream.lower() == "upstream" else "downstream"

    def shown(self) -> dict[str, Any]:
        """Return the toxic as responses show it."""
        return {
            "attributes": self.attributes,
            "name": self.name,
            "type": self.type,
            "stream": self.stream,
            "toxicity": self.toxicity,
        }


def created(body: bytes) -> Toxic:
    """Return the toxic that a request creates, with default attributes.

    Its attributes are read once its name is known to be free.

    Raises:
        ApiError: The body, the type or the stream is invalid.
    """
    values: dict[str, Any] = {"name": "", "type": "", "stream": "downstream", "toxicity": 1.0}
    take(values, read(body), {**_TOXIC, "attributes": dict}, "the toxic")
    if values["stream"].lower() not in STREAMS:
        raise ApiError(*INVALID_STREAM)
    if values["type"] not in TYPES:
        raise ApiError(*INVALID_TYPE)
    name = values["name"] or f"{values['type']}_{values['stream']}"
    toxic = Toxic(name, values["type"], values["stream"], values["toxicity"])
    fields = TYPES[toxic.type].items()
    return replace(toxic, attributes={name: type_() for name, type_ in fields})


def with_attributes(toxic: Toxic, body: bytes) -> Toxic:
    """Return the toxic with the attributes and the toxicity of a request.

    Raises:
        ApiError: The body is invalid.
    """
    values: dict[str, Any] = {"attributes": None, "toxicity": toxic.toxicity}
    take(values, read(body), {"attributes": dict, "toxicity": float}, "the toxic")
    attributes = dict(toxic.attributes)
    take(attributes, values["attributes"], TYPES[toxic.type], "attributes")
    return replace(toxic, attributes=attributes, toxicity=values["toxicity"])
