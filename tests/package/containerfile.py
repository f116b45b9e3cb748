"""Read Containerfile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Instruction(NamedTuple):
    """An instruction of Containerfile."""

    name: str
    rest: str


def instructions(text: str) -> Iterator[Instruction]:
    """Its lines without comments, continued ones as one."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            yield Instruction(name.upper(), rest.strip())
