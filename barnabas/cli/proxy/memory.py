"""Memory of commands that pass large messages through."""

from __future__ import annotations

from typing import Final

BLOCK: Final = 24 << 20
"""Below 32 MiB, where glibc stops learning."""


def keep_freed() -> None:
    """Have what is freed kept for the next message, up to 48 MiB, instead of given back and faulted in anew.

    glibc gives back what is free above twice the largest block that it has mapped and got back
    (mallopt(3), M_MMAP_THRESHOLD). Other allocators do as they do. The block is never touched.
    """
    bytes(BLOCK)
