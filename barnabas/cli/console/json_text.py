"""JSON with spaces, for output that people may read, too."""

from __future__ import annotations


def json_text(value: object, *, indent: int | None = None) -> str:
    r"""Return a value as JSON in ASCII, with spaces after commas and colons.

    `barnabas.specs.json_text.compact` writes JSON without spaces. indent: spaces for each level, on separate
    lines.

    >>> json_text({"client_id": "a\u2028b\x85"})
    '{"client_id": "a\\u2028b\\u0085"}'
    """
    from barnabas.specs.json_text import in_ascii  # the package barnabas.specs loads slowly

    return in_ascii(value, indent=indent)
