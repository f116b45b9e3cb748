"""What the declarations say of a message: its purpose, what its version brought, the type of each field."""

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
    """An API and one of its versions, in words; None: nobody knows it.

    >>> about(26, 1)
    {'purpose': 'commits or aborts a transaction', 'versions': [0, 5], 'brought': []}
    """
    if key > STEP:
        dialect, one = of_key(key)
        said = f"the {one.asker} asks the {one.answerer}; {dialect.title}"
        return {"purpose": said, "versions": [one.version, one.version], "brought": []}
    if key not in NAMES:
        return None
    found = api(key)
    return {
        "purpose": purpose(found)[0],
        "versions": list(found.versions),
        "brought": changes(found).get(version, []),
    }


def type_of(key: int, direction: Direction, path: str) -> str:
    """The declared type of a field, and since when it is there.

    >>> type_of(11, "request", "protocols[0].metadata"), type_of(11, "request", "reason")
    ('BYTES', 'STRING, versions 8+, may be null')
    """
    return _types(key, direction).get(_INDEX.sub("", path), "")


@cache
def _types(key: int, direction: Direction) -> dict[str, str]:
    if key not in NAMES and key < STEP:
        return {}
    message = api(key).request if direction == "request" else api(key).response
    found = {}
    for row in history(message):
        words = [row.type]
        if row.versions != message.versions:
            words.append(f"versions {span(row.versions, message.versions)}")
        if row.nullable:
            words.append("may be null")
        if row.tag is not None:
            words.append(f"tag {row.tag}")
        found[row.path] = ", ".join(words)
    return found
