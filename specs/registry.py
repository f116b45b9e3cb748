"""The registry: every API that Kafka ever had, by key, with the module that declares it.

All follows from the constants of `barnabas.specs.keys`, so that nothing is imported before it is needed:
`END_TXN = 26` is EndTxn, declared in `barnabas.specs.apis.end_txn` under that name.
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
"""Name of each API by its key."""

_KEYS: Final = {name.lower(): key for key, name, _ in REGISTRY}
_MODULES: Final = {key: module for key, _, module in REGISTRY}


def api(which: int | str) -> Api:
    """The declaration of an API, by key or by name in any case.

    Raises LookupError, with the nearest name, for one that does not exist.

    >>> api("fetch").key, api(3).name
    (1, 'Metadata')
    """
    return _load(key_of(which))


def key_of(which: int | str) -> int:
    """The key of an API, by key or by name in any case. Raises LookupError as `api` does."""
    if isinstance(which, int) or which.isdecimal():
        key = int(which)
        if key in NAMES:
            return key
        if key < STEP:
            raise LookupError(f"no API has key {key}; the keys are 0 to {max(NAMES)}")
        of_key(key)
        return key
    found = _KEYS.get(which.lower())
    if found is not None:
        return found
    raise LookupError(f"no API is called {which!r}{did_you_mean(which, NAMES.values())}")


def key_in(dialect: Dialect, which: int | str) -> int:
    """Return the key of an API that may be sent where a dialect is spoken: the dialect's own, or Kafka's.

    Raises LookupError, with the nearest name.
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
    """What reads and writes one version of a message, "request" or "response", of an API by its key.

    Raises LookupError for one that does not exist.
    """
    return api(key).message(direction).codec(version)


def name_of(key: int) -> str | None:
    """Return the name of an API, of a dialect too (`barnabas.specs.dialects.keys`); None: there is none.

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
    found = getattr(importlib.import_module(f"barnabas.specs.apis.{_MODULES[key]}"), NAMES[key])
    assert isinstance(found, Api)  # noqa: S101 - a slip in the declaration
    return found.of(key, NAMES[key])
