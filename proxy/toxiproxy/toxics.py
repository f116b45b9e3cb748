"""Toxics as the API has them: what they are called, which stream they are in, their attributes.

The types and their attributes: https://github.com/Shopify/toxiproxy#toxics. `kafka` is barnabas' own: its
`rule` is one of a scenario, see `barnabas.proxy.scenario`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from barnabas.proxy.toxiproxy.errors import (
    INVALID_STREAM,
    INVALID_TYPE,
    ApiError,
    bad_body,
)
from barnabas.proxy.toxiproxy.go_json import Fields, JsonError, fill, float32, plain, read

Stream = Literal["upstream", "downstream"]
"""From the client to the upstream, or back."""

STREAMS: Final[tuple[Stream, ...]] = ("upstream", "downstream")

KAFKA: Final = "kafka"

_UPDATE: Final = (
    'struct { Attributes interface {} "json:\\"attributes\\""; '
    'Toxicity float32 "json:\\"toxicity\\"" }'
)
"""What an update is in Go."""

_WRAPPER: Final[Fields] = {
    "attributes": "toxics.NoopToxic",
    "name": "string",
    "type": "string",
    "stream": "string",
    "toxicity": "float32",
}

TYPES: Final[dict[str, tuple[str, Fields]]] = {
    "noop": ("NoopToxic", {}),
    "latency": ("LatencyToxic", {"latency": "int64", "jitter": "int64"}),
    "bandwidth": ("BandwidthToxic", {"rate": "int64"}),
    "slow_close": ("SlowCloseToxic", {"delay": "int64"}),
    "timeout": ("TimeoutToxic", {"timeout": "int64"}),
    "reset_peer": ("ResetToxic", {"timeout": "int64"}),
    "slicer": ("SlicerToxic", {"average_size": "int", "size_variation": "int", "delay": "int"}),
    "limit_data": ("LimitDataToxic", {"bytes": "int64"}),
    KAFKA: ("KafkaToxic", {"rule": "Rule"}),
}
"""By type: the struct's name in errors, and its attributes in order."""


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
            "toxicity": float32(self.toxicity),
        }


def created(body: bytes) -> Toxic:
    """The toxic that a request asks for; its attributes are to be read when its name is found to be free.

    Raises ApiError.
    """
    given: dict[str, Any] = {"name": "", "type": "", "stream": "downstream", "toxicity": 1.0}
    _fill(given, _value(body), _WRAPPER, "toxics.ToxicWrapper", "ToxicWrapper")
    if given["stream"].lower() not in STREAMS:
        raise ApiError(*INVALID_STREAM)
    if given["type"] not in TYPES:
        raise ApiError(*INVALID_TYPE)
    name = given["name"] or f"{given['type']}_{given['stream']}"
    toxic = Toxic(name, given["type"], given["stream"], given["toxicity"])
    attributes: dict[str, Any] = {
        attribute: {} if type_ == "Rule" else 0 for attribute, type_ in TYPES[toxic.type][1].items()
    }
    return replace(toxic, attributes=attributes)


def with_attributes(toxic: Toxic, body: bytes) -> Toxic:
    """The toxic with the attributes of a request, and its toxicity. Raises ApiError."""
    struct, fields = TYPES[toxic.type]
    value = _value(body)
    part: dict[str, Any] = {}
    types = {"attributes": f"toxics.{struct}", "toxicity": "float32"}
    _fill(part, value, types, _UPDATE, "")
    attributes = dict(toxic.attributes)
    _fill(attributes, part.get("attributes"), fields, f"toxics.{struct}", struct, "attributes.")
    toxicity = part.get("toxicity", toxic.toxicity)
    try:
        return replace(toxic, attributes=plain(attributes), toxicity=toxicity)
    except JsonError as problem:
        raise bad_body(problem) from None


def _value(body: bytes) -> Any:
    try:
        return read(body)
    except JsonError as problem:
        raise bad_body(problem) from None


def _fill(
    target: dict[str, Any], value: Any, fields: Fields, whole: str, struct: str, path: str = ""
) -> None:
    try:
        fill(target, value, fields, whole, struct, path)
    except JsonError as problem:
        raise bad_body(problem) from None
