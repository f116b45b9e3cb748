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
from barnabas.specs.message import Api

REGISTRY: Final[tuple[tuple[int, str, str], ...]] = tuple(
    (key, "".join(map(str.capitalize, constant.split("_"))), constant.lower())
    for constant, key in vars(keys).items()
    if constant.isupper()
)
"""(key, name, module below barnabas.specs.apis)."""

NAMES: Final = {key: name for key, name, _ in REGISTRY}
"""Name of each API by its key."""

_HEADERS: Final = 32767
"""The highest key that a header can hold."""

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
        if key in NAMES or (key > _HEADERS and _of_draft(key) is not None):
            return key
        raise LookupError(f"no API has key {key}; the keys are 0 to {max(NAMES)}")
    found = _KEYS.get(which.lower())
    if found is not None:
        return found
    raise LookupError(f"no API is called {which!r}{did_you_mean(which, NAMES.values())}")


@functools.cache
def codec_of(key: int, version: int, direction: str) -> Codec:
    """What reads and writes one version of a message, "request" or "response", of an API by its key.

    Raises LookupError for one that does not exist.
    """
    return api(key).message(direction).codec(version)


def name_of(key: int) -> str | None:
    """The name of an API, of a draft too (`barnabas.specs.drafts.keys`); None: there is none.

    >>> name_of(3), name_of(65536 + 7), name_of(1000)
    ('Metadata', 'Ping', None)
    """
    found = NAMES.get(key)
    if found is None and key > _HEADERS and (declared := _of_draft(key)) is not None:
        return declared.name
    return found


@functools.cache
def _of_draft(key: int) -> Api | None:
    """A draft's API by the key that it has here."""
    drafts = importlib.import_module("barnabas.specs.drafts.keys")
    try:
        found = drafts.of_key(key)[1].api
    except LookupError:
        return None
    assert isinstance(found, Api)  # noqa: S101 - the type of DraftApi.api
    return found


@functools.cache
def _load(key: int) -> Api:
    if key > _HEADERS:
        declared = _of_draft(key)
        assert declared is not None  # noqa: S101 - key_of has looked
        return declared
    found = getattr(importlib.import_module(f"barnabas.specs.apis.{_MODULES[key]}"), NAMES[key])
    assert isinstance(found, Api)  # noqa: S101 - a slip in the declaration
    return found.of(key, NAMES[key])
