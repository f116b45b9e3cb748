"""Links to the sources of checks."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

_LINKS: Final = (
    (
        re.compile(r"\bKIP-\d+\b"),
        "https://cwiki.apache.org/confluence/dosearchsite.action?queryString=",
    ),
    (re.compile(r"\bKAFKA-\d+\b"), "https://issues.apache.org/jira/browse/"),
    (
        re.compile(r"\b\w+\.json\b"),
        "https://github.com/apache/kafka/blob/trunk/clients/src/main/resources/common/message/",
    ),
    (
        re.compile(r"\b[A-Z][a-z]\w+(?=\.\w|$)"),
        "https://github.com/search?type=code&q=repo%3Aapache%2Fkafka+",
    ),
)
"""What a source may name, and the address that the name completes: a KIP, an issue, a message, a class."""


def source_link(source: str) -> str:
    """Return the address of a source, or empty text if it names nothing that has one.

    >>> source_link("KAFKA-19233")
    'https://issues.apache.org/jira/browse/KAFKA-19233'
    >>> source_link("UnifiedLog.read")
    'https://github.com/search?type=code&q=repo%3Aapache%2Fkafka+UnifiedLog'
    """
    for pattern, address in _LINKS:
        if match := pattern.search(source):
            return address + quote(match[0])
    return ""
