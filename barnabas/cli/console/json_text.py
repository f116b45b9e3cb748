"""JSON with spaces, as commands print it where people look, too."""

from __future__ import annotations


def json_text(value: object, *, indent: int | None = None) -> str:
    r"""A value as JSON, in ASCII as `barnabas.specs.json_text.compact`, which has no spaces.

    indent: spaces for each level, on lines of their own.

    >>> json_text({"client_id": "a\u2028b\x85"})
    '{"client_id": "a\\u2028b\\u0085"}'
    """
    from barnabas.specs.json_text import in_ascii  # the protocol's package takes its time to load

    return in_ascii(value, indent=indent)
