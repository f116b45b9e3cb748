"""Names of groups and topics as names of entries: characters that ZooKeeper or a file refuses become %XX."""

from __future__ import annotations

from urllib.parse import quote, unquote

EMPTY = "%"
"""The entry of the empty name: of a percent sign it is %25."""


def below(folder: str, name: str) -> str:
    """Return the path of a name's entry.

    >>> below("/groups", "a/b"), below("/groups", ".."), below("/groups", "")
    ('/groups/a%2Fb', '/groups/%2E%2E', '/groups/%')
    """
    entry = quote(name, safe="") or EMPTY
    if entry in (".", ".."):
        entry = entry.replace(".", "%2E")
    return f"{folder}/{entry}"


def name_of(entry: str) -> str:
    r"""Return the name of an entry, given without its folder.

    >>> [name_of(below("", name)[1:]) for name in ("%2F", "..", "", "\0 \u20ac")]
    ['%2F', '..', '', '\x00 €']
    """
    return "" if entry == EMPTY else unquote(entry)
