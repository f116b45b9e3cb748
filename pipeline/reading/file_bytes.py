"""The bytes of a capture file: mapped into memory as it stands there, or unpacked piece by piece."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import numpy as np
from numpy.typing import NDArray

from barnabas.captures.files.file_format import unpacked
from barnabas.pipeline.reading.ranges import Kind

PIECE: Final = 4 << 20
"""Bytes that are unpacked at once."""


class FileBytes:
    """A window of a file's bytes: all of it, or of a packed one those that `refill` has brought.

    Places are offsets in `data`; `base` is where that begins in the (unpacked) file.
    """

    def __init__(self, path: str, kind: Kind) -> None:
        self.base = 0
        self.data: Any = b""
        """A memory map, or bytes."""
        self._file = Path(path).open("rb", buffering=0)  # noqa: SIM115 see close
        self._stream: BinaryIO | None = None
        self.whole = kind != "packed"
        """Whether the data goes up to the file's end."""
        if not self.whole:
            self._stream = cast(BinaryIO, unpacked(self._file))
        elif Path(path).stat().st_size:
            self.data = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)

    @property
    def array(self) -> NDArray[np.uint8]:
        """The same as an array without a copy."""
        return np.frombuffer(self.data, np.uint8)

    def refill(self, at: int) -> int:
        """Forget what stands before a place, and bring more behind. Returns the place's new offset.

        Raises CaptureError where what is packed is broken.
        """
        if self._stream is None:
            return at
        more = self._stream.read(max(PIECE, len(self.data) - at))
        self.whole = not more
        self.data = self.data[at:] + more
        self.base += at
        return 0

    def give_up(self) -> None:
        """Nothing more can be unpacked."""
        self.whole = True
        self._stream = None

    def close(self) -> None:
        """Close the file. A map goes with the last array that looks at it."""
        self._file.close()
