"""Memory of commands that read or forward large messages."""

from __future__ import annotations

from typing import Final

BLOCK: Final = 24 << 20
"""Below 32 MiB, where glibc stops learning."""


def keep_freed() -> None:
    """Have the allocator keep freed memory, up to 48 MiB, for the next message.

    Otherwise glibc returns free memory above twice the largest block that was mapped and freed (mallopt(3),
    M_MMAP_THRESHOLD), and faults it in again. Other allocators are unaffected. The block is never touched.
    """
    bytes(BLOCK)
