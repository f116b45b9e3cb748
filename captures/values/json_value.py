"""JSON in bytes."""

from __future__ import annotations

from typing import Any

import orjson

from barnabas.captures.values.schema import DEPTH, Unread, check_nesting


def read_json(data: bytes) -> Any:
    """The value. Raises Unread if it is none, or deeper than DEPTH.

    >>> read_json(b'{"order_id": 17}')
    {'order_id': 17}
    """
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        raise Unread(f"no JSON: {problem.msg}") from None
    if data.count(b"[") + data.count(b"{") > DEPTH:
        check_nesting(found)
    return found
