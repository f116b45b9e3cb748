"""What kind of file a capture is, by its first bytes: pcapng or pcap, as it is or compressed."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

from captures import pcap, pcapng
from captures.pcapng import Block, CaptureError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_PCAPNG: Final = b"\n\r\r\n"
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = bytes.fromhex("28b52ffd")
_WINDOW: Final = 128 << 20
"""Bytes that a zstd stream may refer back: what its own tool allows unless told otherwise."""
_PIECE: Final = 1 << 18

_OTHERS: Final = (
    (b"\xfd7zXZ\0", "compressed by xz: decompress it first"),
    (b"BZh", "compressed by bzip2: decompress it first"),
    (bytes.fromhex("04224d18"), "compressed by lz4: decompress it first"),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"snoop\0\0\0", "a snoop file: convert it (editcap -F pcapng)"),
    (b"{", "JSON, not packets"),
)


def read_capture(file: BinaryIO) -> Iterator[Block]:
    """The blocks of a capture of any format. A classic pcap has packets only.

    Raises CaptureError if it is none, or damaged, and whatever `file` raises.
    """
    plain = _unpacked(file)
    magic = plain.peek(16)[:16]
    if magic[:4] in pcap.MAGICS:
        return pcap.read_packets(cast(BinaryIO, plain))
    if not magic or _PCAPNG.startswith(magic[:4]):
        return pcapng.read_blocks(cast(BinaryIO, plain))
    for start, what in _OTHERS:
        if magic.startswith(start):
            raise CaptureError(0, what)
    raise CaptureError(0, f"neither pcap nor pcapng begins with {magic[:4].hex(' ')}")


def regular(path: Path) -> bool:
    """Whether a path is a file that can be read more than once."""
    return path.is_file()


def _unpacked(file: BinaryIO) -> io.BufferedReader:
    plain = io.BufferedReader(cast(io.RawIOBase, file), _PIECE)
    magic = plain.peek(4)[:4]
    if magic.startswith(_GZIP):
        return io.BufferedReader(_Stream(gzip.GzipFile(fileobj=plain).read1), _PIECE)
    if magic == _ZSTD:
        return io.BufferedReader(_Stream(_zstd(plain)), _PIECE)
    return plain


def _zstd(file: io.BufferedReader) -> Callable[[int], bytes]:
    try:
        import zstandard
    except ImportError:
        raise CaptureError(
            0, "compressed by zstd, which needs: pip install 'barnabas[capture]'"
        ) from None
    stream = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(
        file, read_across_frames=True
    )

    def read(size: int) -> bytes:
        try:
            return stream.read(size)
        except zstandard.ZstdError as problem:
            raise zlib.error(str(problem)) from None

    return read


class _Stream(io.RawIOBase):
    """What comes out of a decompressor. A stream that is cut off ends where it does."""

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
                self._offset, f"what is compressed is broken from here on: {problem}"
            ) from None
        into[: len(data)] = data
        self._offset += len(data)
        return len(data)
