"""The bytes of capture files: mapped into memory, or decompressed piece by piece.

`FileBytes` is a window of one file, for reading blocks. `MappedFiles` maps files for random access to
payloads.
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import numpy as np
from numpy.typing import NDArray

from barnabas.captures.files.file_format import unpacked
from barnabas.pipeline.reading.ranges import Kind

PIECE: Final = 4 << 20
"""Bytes to decompress at once."""


class FileBytes:
    """A window of a file's bytes: the whole file, or the decompressed part that `refill` has read.

    Positions are offsets in `data`; `base` is the offset of `data` in the (decompressed) file.
    """

    def __init__(self, path: str, kind: Kind) -> None:
        self.base = 0
        self.data: Any = b""
        """A memory map, or bytes."""
        self._file = Path(path).open("rb", buffering=0)  # noqa: SIM115 see close
        self._stream: BinaryIO | None = None
        self.whole = kind != "packed"
        """Whether the data extends to the file's end."""
        if not self.whole:
            self._stream = cast(BinaryIO, unpacked(self._file))
        elif Path(path).stat().st_size:
            self.data = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)

    @property
    def array(self) -> NDArray[np.uint8]:
        """Return the data as an array, without a copy."""
        return np.frombuffer(self.data, np.uint8)

    def refill(self, at: int) -> int:
        """Drop the data before an offset, read more, and return the offset's new value.

        Raises:
            CaptureError: The compressed data is corrupt.
        """
        if self._stream is None:
            return at
        more = self._stream.read(max(PIECE, len(self.data) - at))
        self.whole = not more
        self.data = self.data[at:] + more
        self.base += at
        return 0

    def give_up(self) -> None:
        """Stop decompressing."""
        self.whole = True
        self._stream = None

    def close(self) -> None:
        """Close the file. A map is released with the last array that uses it."""
        self._file.close()


RETAINED: Final = 64 << 20
"""Bytes before the current offset whose pages stay in the memory of a worker."""


class MappedFiles:
    """Maps each file into memory on first use."""

    def __init__(self) -> None:
        self._maps: dict[str, mmap.mmap] = {}
        self._released: dict[str, int] = {}
        """The offset up to which pages were released, by path."""

    def passed(self, path: str, offset: int) -> None:
        """Release the pages before an offset up to which a flow was read.

        Otherwise all pages of the file would stay in memory. They remain in the system's cache, from where
        the next flow gets them.
        """
        if not 0 <= offset - self._released.get(path, 0) < RETAINED:
            self._released[path] = offset
            if hasattr(mmap, "MADV_DONTNEED"):
                self._maps[path].madvise(mmap.MADV_DONTNEED)

    def __getitem__(self, path: str) -> mmap.mmap:
        if path not in self._maps:
            with Path(path).open("rb") as file:
                self._maps[path] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return self._maps[path]
