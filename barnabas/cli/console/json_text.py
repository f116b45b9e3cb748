"""JSON as all commands print it."""

from __future__ import annotations

import json


def json_text(value: object, *, indent: int | None = None, compact: bool = False) -> str:
    r"""A value as JSON, in ASCII: names come from strangers, and many programs end a line at C1 controls
    and at U+2028 too.

    indent: spaces for each level, on lines of their own; compact: no spaces between values.

    >>> json_text({"client_id": "a\u2028b\x85"})
    '{"client_id": "a\\u2028b\\u0085"}'
    """
    separators = (",", ":") if compact else None
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=False)
    if not text.isascii():  # rare, and looking for it first makes all others a quarter faster
        text = json.dumps(value, indent=indent, separators=separators)
    return text.replace("\x7f", "\\u007f")
