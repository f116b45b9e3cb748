"""Names of groups and topics as names of entries: slashes and percent signs stand as %XX."""

from __future__ import annotations


def below(folder: str, name: str) -> str:
    """Where the entry of a name stands.

    >>> below("/groups", "a/b")
    '/groups/a%2Fb'
    """
    return f"{folder}/" + name.replace("%", "%25").replace("/", "%2F")


def name_of(entry: str) -> str:
    """The name that an entry, without its folder, stands for.

    >>> name_of("a%2Fb"), name_of(below("", "%2F")[1:])
    ('a/b', '%2F')
    """
    return entry.replace("%2F", "/").replace("%25", "%")
