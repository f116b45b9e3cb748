"""The meaning of the bytes of Kafka's protocol: one declaration for each API, with all its versions.

>>> from barnabas import specs
>>> fetch = specs.api("Fetch").request
>>> body = fetch.codec(11).encode({"max_wait_ms": 500})
>>> fetch.codec(11).decode(body)["max_wait_ms"], fetch.at(11).parse(body).max_wait_ms
(500, 500)

- `apis/` declares the APIs, `keys.py` names their keys, `registry.py` loads a declaration on first use.
- `declaration.py` is the notation; `layout.py` resolves a declaration for one version.
- `codec/` generates a decoder and an encoder for a layout; `reference.py` makes the same with construct.
- `frames.py` reads whole frames: size, header, body. `dialects/` adds protocols other than Kafka's.
- `records/` (record sets) and `embedded/` (messages inside bytes fields) are imported on first access.
- `broker_addresses.py`, `secrets.py` and `entities.py` find fields with a meaning in all layouts.
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
"""Packages that importing `barnabas.specs` does not load."""


def __getattr__(name: str) -> Any:
    if name in LATE:
        return importlib.import_module(f"barnabas.specs.{name}")
    raise AttributeError(f"module 'barnabas.specs' has no attribute {name!r}")
