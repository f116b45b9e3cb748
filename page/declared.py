"""Facts from the protocol's declarations: an API's purpose, a version's changes, types of fields."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from barnabas.specs.dialects.keys import STEP, of_key
from barnabas.specs.frames import Direction
from barnabas.specs.guide import changes, history, purpose, span
from barnabas.specs.registry import NAMES, api

_INDEX: Final = re.compile(r"\[\d+\]")


@cache
def about(key: int, version: int) -> dict[str, Any] | None:
    """Return the purpose, the versions and the changes of an API version; None: the API is unknown.

    >>> about(26, 1)
    {'purpose': 'commits or aborts a transaction', 'versions': [0, 5], 'brought': []}
    """
    if key > STEP:
        dialect, dialect_api = of_key(key)
        purpose_text = f"the {dialect_api.asker} asks the {dialect_api.answerer}; {dialect.title}"
        return {
            "purpose": purpose_text,
            "versions": [dialect_api.version, dialect_api.version],
            "brought": [],
        }
    if key not in NAMES:
        return None
    declaration = api(key)
    return {
        "purpose": purpose(declaration)[0],
        "versions": list(declaration.versions),
        "brought": changes(declaration).get(version, []),
    }


def type_of(key: int, direction: Direction, path: str) -> str:
    """Return the declared type and versions of a field; empty: unknown.

    >>> type_of(11, "request", "protocols[0].metadata"), type_of(11, "request", "reason")
    ('BYTES', 'STRING, versions 8+, may be null')
    """
    return _types(key, direction).get(_INDEX.sub("", path), "")


@cache
def _types(key: int, direction: Direction) -> dict[str, str]:
    if key not in NAMES and key < STEP:
        return {}
    message = api(key).request if direction == "request" else api(key).response
    types = {}
    for row in history(message):
        words = [row.type]
        if row.versions != message.versions:
            words.append(f"versions {span(row.versions, message.versions)}")
        if row.nullable:
            words.append("may be null")
        if row.tag is not None:
            words.append(f"tag {row.tag}")
        types[row.path] = ", ".join(words)
    return types
