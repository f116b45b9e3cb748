"""Decode values in JSON."""

from __future__ import annotations

from typing import Any

import orjson

from barnabas.captures.values.schema import DEPTH, Unread, check_nesting


def read_json(data: bytes) -> Any:
    """Decode JSON. Raises Unread if it is invalid, or nested deeper than DEPTH.

    >>> read_json(b'{"order_id": 17}')
    {'order_id': 17}
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        raise Unread(f"no JSON: {problem.msg}") from None
    if data.count(b"[") + data.count(b"{") > DEPTH:
        check_nesting(value)
    return value
