"""What the bytes of Kafka's protocol mean: every API in every version, in one declaration each.

>>> from barnabas import specs
>>> fetch = specs.api("Fetch").request
>>> body = fetch.codec(11).encode({"max_wait_ms": 500})
>>> fetch.codec(11).decode(body)["max_wait_ms"], fetch.at(11).parse(body).max_wait_ms
(500, 500)

The packages `barnabas.specs.records` (record sets) and `barnabas.specs.embedded` (messages inside bytes
fields) are imported when they are first named. `barnabas.specs.dialects` has protocols that are not Kafka's.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from barnabas.specs.codec import Codec, Oddity, Unfit
from barnabas.specs.frames import Frame, decode_frame, encode_frame
from barnabas.specs.malformed import Malformed
from barnabas.specs.message import Api, Message
from barnabas.specs.registry import NAMES, REGISTRY, api, key_of

if TYPE_CHECKING:
    from barnabas.specs import embedded, records

__all__ = [
    "NAMES",
    "REGISTRY",
    "Api",
    "Codec",
    "Frame",
    "Malformed",
    "Message",
    "Oddity",
    "Unfit",
    "api",
    "decode_frame",
    "embedded",
    "encode_frame",
    "key_of",
    "records",
]

LATE: Final = ("embedded", "records")
"""Packages that an import of specs does not load."""


def __getattr__(name: str) -> Any:
    if name in LATE:
        return importlib.import_module(f"barnabas.specs.{name}")
    raise AttributeError(f"module 'barnabas.specs' has no attribute {name!r}")
