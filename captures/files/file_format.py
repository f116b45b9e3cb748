"""Detect the format of a capture by its first bytes: pcapng or pcap, plain or compressed."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from barnabas.captures.files import pcap, pcapng_file
from barnabas.captures.files.growth import GrowingFile, Growth, Prompt
from barnabas.captures.files.pcapng import MAGIC, Block, CaptureError, Run, Section, each

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = bytes.fromhex("28b52ffd")
_WINDOW: Final = 128 << 20
"""Bytes that a zstd stream may refer back: the default limit of the zstd tool."""

NEITHER: Final = "neither pcap nor pcapng"
"""The beginning of the reason why a file of unknown content is not a capture."""

_OTHERS: Final = (
    (b"\xfd7zXZ\0", "compressed by xz: decompress it first"),
    (b"BZh", "compressed by bzip2: decompress it first"),
    (bytes.fromhex("04224d18"), "compressed by lz4: decompress it first"),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"snoop\0\0\0", "a snoop file: convert it (editcap -F pcapng)"),
    (b"{", "JSON, not packets"),
)


MOST_MAGIC: Final = 4
"""Bytes that `may_be_capture` compares."""


def may_be_capture(head: bytes) -> bool:
    """Return whether a file with these first bytes is a capture, or compressed like one.

    >>> may_be_capture(_ZSTD), may_be_capture(b"text")
    (True, False)
    """
    magic = head[:MOST_MAGIC]
    return magic in (MAGIC, _ZSTD, *pcap.MAGICS) or magic.startswith(_GZIP)


class CaptureFile:
    """A capture file of any format; `growth`: it is still being written.

    Raises OSError if it can't be opened.
    """

    def __init__(self, path: Path, growth: Growth | None = None) -> None:
        self._file: io.FileIO = path.open("rb", buffering=0)
        self._raw: io.RawIOBase = self._file
        self._reader: type[io.BufferedReader] = io.BufferedReader
        if growth is not None:
            self._reader = Prompt
            self._raw = GrowingFile(self._file, path, growth)
        self._unpacked: io.BufferedReader | None = None
        """Referenced because its deletion closes the file."""

    @property
    def position(self) -> int:
        """Return the bytes of the file that were read."""
        return self._file.tell()

    def blocks(self) -> Iterator[Block]:
        """Return the blocks of the file; a classic pcap is one section without comments. Call it once.

        Raises:
            CaptureError: The file is not a capture, or is damaged.
            OSError: The file can't be read.
        """
        return each(self.runs())

    def runs(self, *, recover: bool = False) -> Iterator[Block | Run]:
        """Return the blocks of the file, with packets without options in runs. Call it once.

        With `recover`, reading continues after damage, which yields `Damage`; only compressed data can't be
        read any further.

        Raises:
            CaptureError: The file is not a capture, or is damaged.
            OSError: The file can't be read.
        """
        file = self._unpacked = unpacked(self._raw, self._reader)
        magic = file.peek(16)[:16]
        if magic[:4] in pcap.MAGICS:
            return chain([Section((), "", 0)], pcap.read_runs(file, recover=recover))
        if not magic or MAGIC.startswith(magic[:4]):
            return pcapng_file.read_runs(file, recover=recover)
        for start, reason in _OTHERS:
            if magic.startswith(start):
                raise CaptureError(0, reason)
        raise CaptureError(0, f"{NEITHER} (it begins with {magic[:4].hex(' ')})")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def unpacked(
    file: io.RawIOBase, reader: type[io.BufferedReader] = io.BufferedReader
) -> io.BufferedReader:
    """Return the content of a file, decompressed if needed.

    Reading raises CaptureError where the file is damaged.
    """
    plain = _buffered(file, reader)
    magic = plain.peek(4)[:4]
    if magic.startswith(_GZIP):
        return _buffered(_Stream(gzip.GzipFile(fileobj=plain).read1), reader)
    if magic == _ZSTD:
        return _buffered(_Stream(_zstd(plain)), reader)
    return plain


def _buffered(raw: Any, reader: type[io.BufferedReader] = io.BufferedReader) -> io.BufferedReader:
    # a small buffer for the first bytes; larger reads bypass it
    return reader(raw)


def _zstd(file: io.BufferedReader) -> Callable[[int], bytes]:
    try:
        import zstandard
    except ImportError:
        raise CaptureError(
            0,
            "compressed by zstd, which needs a package: install barnabas with the extra 'capture'",
        ) from None
    stream = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(
        file, read_across_frames=True
    )

    def read(size: int) -> bytes:
        try:
            return stream.read1(size)
        except zstandard.ZstdError as problem:
            raise zlib.error(str(problem)) from None

    return read


class _Stream(io.RawIOBase):
    """A decompressed stream. A truncated stream ends without an error."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._offset = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        into: Any = memoryview(buffer)
        try:
            data = self._read(len(into))
        except EOFError:
            return 0
        except (gzip.BadGzipFile, zlib.error) as problem:
            raise CaptureError(
                self._offset, f"the compressed data is damaged from here on: {problem}"
            ) from None
        into[: len(data)] = data
        self._offset += len(data)
        return len(data)
