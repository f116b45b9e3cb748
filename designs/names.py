"""Names of topics and groups on the command line."""

from __future__ import annotations

from barnabas.specs.codec.careful_decoder import MAX_STRING
from barnabas.trouble import Trouble


def sendable(option: str, name: str) -> str:
    """Return a name if a request can contain it. Raises Trouble.

    >>> sendable("--topic", "€")
    '€'
    """
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise Trouble(f"{option}: {name!r} is not valid UTF-8") from None
    if size > MAX_STRING:
        raise Trouble(f"{option}: a name of {size} bytes; {MAX_STRING} is the most")
    return name
