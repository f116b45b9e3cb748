"""The registry of every API that Kafka ever had: key, name, and the module that declares it.

It is derived from the constants of `barnabas.specs.keys`, and a declaration is imported on first use:
`END_TXN = 26` is EndTxn, declared under that name in `barnabas.specs.apis.end_txn`.
"""

from __future__ import annotations

import functools
import importlib
from typing import Final

from barnabas.nearest import did_you_mean
from barnabas.specs import keys
from barnabas.specs.codec import Codec
from barnabas.specs.dialects import Dialect
from barnabas.specs.dialects.keys import STEP, of_key, own_key
from barnabas.specs.message import Api

REGISTRY: Final[tuple[tuple[int, str, str], ...]] = tuple(
    (key, "".join(map(str.capitalize, constant.split("_"))), constant.lower())
    for constant, key in vars(keys).items()
    if constant.isupper()
)
"""(key, name, module below barnabas.specs.apis)."""

NAMES: Final = {key: name for key, name, _ in REGISTRY}
"""The name of each API by its key."""

_KEYS: Final = {name.lower(): key for key, name, _ in REGISTRY}
_MODULES: Final = {key: module for key, _, module in REGISTRY}


def api(which: int | str) -> Api:
    """Return the declaration of an API, by key or by name in any case.

    Raises:
        LookupError: There is no such API; the message has the nearest name.

    >>> api("fetch").key, api(3).name
    (1, 'Metadata')
    """
    return _load(key_of(which))


def key_of(which: int | str) -> int:
    """Return the key of an API, by key or by name in any case. Raises LookupError as `api` does."""
    if isinstance(which, int) or which.isdecimal():
        key = int(which)
        if key in NAMES:
            return key
        if key < STEP:
            raise LookupError(f"no API has key {key}; the keys are 0 to {max(NAMES)}")
        of_key(key)
        return key
    key_by_name = _KEYS.get(which.lower())
    if key_by_name is not None:
        return key_by_name
    raise LookupError(f"no API is called {which!r}{did_you_mean(which, NAMES.values())}")


def key_in(dialect: Dialect, which: int | str) -> int:
    """Return the key of an API that a dialect's connection accepts: one of the dialect, or one of Kafka.

    Raises:
        LookupError: There is no such API; the message has the nearest name.
    """
    try:
        return own_key(dialect, dialect.api(which))
    except LookupError:
        allowed = {NAMES[key].lower() for key in dialect.kafka_apis} | set(
            map(str, dialect.kafka_apis)
        )
        if dialect.has_kafka_headers or str(which).lower() in allowed:
            return key_of(which)
        raise


@functools.cache
def codec_of(key: int, version: int, direction: str) -> Codec:
    """Return the codec of one version of an API's message. Raises LookupError.

    `direction` is "request" or "response".
    """
    return api(key).message(direction).codec(version)


def name_of(key: int) -> str | None:
    """Return the name of an API of Kafka or of a dialect, or None if the key is unknown.

    >>> name_of(3), name_of(1000)
    ('Metadata', None)
    """
    if key < STEP:
        return NAMES.get(key)
    try:
        return of_key(key)[1].name
    except LookupError:
        return None


@functools.cache
def _load(key: int) -> Api:
    if key > STEP:
        return of_key(key)[1].api
    declared = getattr(importlib.import_module(f"barnabas.specs.apis.{_MODULES[key]}"), NAMES[key])
    assert isinstance(declared, Api)  # noqa: S101 - a slip in the declaration
    return declared.of(key, NAMES[key])
