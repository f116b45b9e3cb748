"""The name in a client's certificate, as brokers write it after `User:` without mapping rules.

It is Java's `X500Principal.getName()` of the subject (RFC 2253): the parts in reverse order, nine keywords,
and other attributes as OID and DER in hex. `getpeercert` returns texts without their DER, so this module
reads the certificate, which OpenSSL has verified.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_KEYWORDS: Final = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
_TEXTS: Final = (0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1E)
"""The tags of strings that are written as text, all as UTF-8: UTF8, Printable, T61, IA5, General, BMP."""

_VERSION: Final = 0xA0
_ESCAPED: Final = re.compile(r'[,=+<>#;"\\]')
_ENDS: Final = re.compile(r"^ +| +$")


def principal(certificate: bytes) -> str | None:
    """Return the name of an X.509 certificate's subject; None if it is empty or unreadable."""
    try:
        (signed, *_) = _elements(_content(certificate))
        fields = [*_elements(_content(signed))]
        # serial number, signature, issuer, validity, subject; before them the version, but for 1
        subject = fields[5 if fields[0][0] == _VERSION else 4]
        parts = [_part(part) for part in _elements(_content(subject))]
    except (IndexError, ValueError):
        return None
    return ",".join(reversed(parts)) or None


def _part(part: bytes) -> str:
    """Return a relative distinguished name, which mostly has one attribute."""
    return "+".join(map(_attribute, _elements(_content(part))))


def _attribute(attribute: bytes) -> str:
    attribute_type, value = _elements(_content(attribute))
    oid = _dotted(_content(attribute_type))
    if oid not in _KEYWORDS or value[0] not in _TEXTS:
        return f"{_KEYWORDS.get(oid, oid)}=#{value.hex()}"
    text = _ESCAPED.sub(r"\\\g<0>", _content(value).decode("utf-8", "replace"))
    text = _ENDS.sub(lambda spaces: "\\ " * len(spaces[0]), text).replace("\0", "\\00")
    return f"{_KEYWORDS[oid]}={text}"


def _dotted(oid: bytes) -> str:
    numbers, number = [0], 0
    for byte in oid:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(number)
            number = 0
    numbers[0] = min(numbers[1] // 40, 2)  # the first two stand in one
    numbers[1] -= numbers[0] * 40
    return ".".join(map(str, numbers))


def _elements(data: bytes) -> Iterator[bytes]:
    """Yield consecutive DER elements, whole."""
    while data:
        _, end = _bounds(data)
        yield data[:end]
        data = data[end:]


def _content(element: bytes) -> bytes:
    start, end = _bounds(element)
    return element[start:end]


def _bounds(data: bytes) -> tuple[int, int]:
    """Return the start and the end of the first element's content.

    Raises IndexError or ValueError.
    """
    size, start = data[1], 2
    if size > 0x80:
        start += size & 0x7F
        size = int.from_bytes(data[2:start])
    if size == 0x80 or start + size > len(data):
        raise ValueError("no DER")
    return start, start + size
