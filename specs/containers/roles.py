"""What a number in a container is: a length, or a checksum. It is read and built as what it wraps."""

from __future__ import annotations

from typing import Any

import construct


class Length(construct.Subconstruct):  # type: ignore[misc]
    """How many bytes something has.

    of: the field behind it in the same structure; "" for what is not in the container, such as the unpacked
    bytes. shift: how many of its lower bits say something else. coding: how it is written, if its type does
    not say.
    """

    def __init__(self, subcon: Any, of: str = "", *, shift: int = 0, coding: str = "") -> None:
        super().__init__(subcon)
        self.of = of
        self.shift = shift
        self.coding = coding


class Checksum(construct.Subconstruct):  # type: ignore[misc]
    """A checksum by an algorithm.

    since: of the bytes of this structure from that field on up to itself; "" for bytes that are not in the
    container.
    """

    def __init__(self, subcon: Any, algorithm: str, since: str = "") -> None:
        super().__init__(subcon)
        self.algorithm = algorithm
        self.since = since
