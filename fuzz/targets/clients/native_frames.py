"""Names of functions in the native stacks of clients (peers/clients/programs/native_stacks.c)."""

from __future__ import annotations

import bisect
import re
import struct
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

_FRAME: Final = re.compile(r"^(/.*)\((\w*)\+0x([0-9a-f]+)\)\[0x[0-9a-f]+\]\n?", re.MULTILINE)
_LIBRARIES: Final = "/site-packages/"
_SECTION: Final = struct.Struct("<IIQQQQIIQQ")
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_SYMTAB: Final = 2
_FUNCTION: Final = 2


def with_names(output: str) -> str:
    r"""Return a program's output with the functions of its native stacks, of installed libraries only.

    >>> frames = "/lib/libc.so.6(abort+0xd3)[0x7f01]\n/v/site-packages/a.so(f+0x3)[0x7f02]\n"
    >>> with_names(f"Native stack:\n{frames}.")
    'Native stack:\n  f (a.so)\n.'
    """
    return _FRAME.sub(_named, output)


def _named(frame: re.Match[str]) -> str:
    file, function, offset = frame.groups()
    if _LIBRARIES not in file:
        return ""
    return f"  {function or _function_at(file, int(offset, 16))} ({Path(file).name})\n"


def _function_at(file: str, offset: int) -> str:
    """Return the function at an offset in a library; a return address may be behind the function's end."""
    starts, names = _functions(file)
    index = bisect.bisect_left(starts, offset) - 1
    return names[index] if index >= 0 else "unknown"


@lru_cache(maxsize=8)
def _functions(file: str) -> tuple[list[int], list[str]]:
    """Return where the functions of a library begin, and their names; none if it has no symbol table."""
    try:
        symbols = sorted(_symbols(Path(file).read_bytes()))
    except (OSError, struct.error):
        symbols = []
    return [start for start, _ in symbols], [name for _, name in symbols]


def _symbols(elf: bytes) -> Iterator[tuple[int, str]]:
    """Yield the functions of the symbol table of a 64-bit little-endian ELF file."""
    if elf[:6] != b"\x7fELF\x02\x01":
        return
    (table,) = struct.unpack_from("<Q", elf, 40)
    (count,) = struct.unpack_from("<H", elf, 60)
    sections = [
        _SECTION.unpack_from(elf, table + _SECTION.size * number) for number in range(count)
    ]
    for _, kind, _, _, offset, size, linked, *_ in sections:
        if kind != _SYMTAB:
            continue
        strings = sections[linked][4]
        for name, info, _, _, start, _ in _SYMBOL.iter_unpack(elf[offset : offset + size]):
            if info & 15 == _FUNCTION and start:
                text = elf[strings + name : elf.index(b"\0", strings + name)].decode(
                    errors="replace"
                )
                # without the compiler's marks of copies
                yield start, text.partition(".")[0]
