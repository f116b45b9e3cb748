"""Numbers with a role in a container: lengths and checksums. They read and build as the wrapped type."""

from __future__ import annotations

from typing import Any

import construct


class Length(construct.Subconstruct):  # type: ignore[misc]
    """A number of bytes.

    `of` is the following field of the same structure that has this length; "" means bytes outside the
    container, such as the uncompressed content. `shift` is the number of lower bits with another meaning.
    `coding` names the encoding if the type does not.
    """

    def __init__(self, subcon: Any, of: str = "", *, shift: int = 0, coding: str = "") -> None:
        super().__init__(subcon)
        self.of = of
        self.shift = shift
        self.coding = coding


class Checksum(construct.Subconstruct):  # type: ignore[misc]
    """A checksum by an algorithm.

    It covers this structure's bytes from the field `since` up to the checksum; "" means bytes outside the
    container.
    """

    def __init__(self, subcon: Any, algorithm: str, since: str = "") -> None:
        super().__init__(subcon)
        self.algorithm = algorithm
        self.since = since
