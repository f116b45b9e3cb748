"""Stacks of C code upon a fatal signal; beside `lines.py`, in a venv that has nothing of this project.

faulthandler prints the frames of Python alone. Each frame is a line `file(+0xoffset)[0xaddress]`, as glibc's
backtrace_symbols_fd writes it; whoever has the library's file can name the function.
"""

from __future__ import annotations

import ctypes
import signal
import struct

FATAL = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGABRT)
TITLE = b"Native stack:\n"
_MOST = 64
_ACTION = 1024
"""Bytes that are enough for a `struct sigaction` of any system."""

_kept: list[object] = []
"""What C code refers to."""


def enable() -> None:
    """Print the native stack upon a fatal signal, then do what was to be done before; only with glibc."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "backtrace_symbols_fd"):
        return
    frames = (ctypes.c_void_p * _MOST)()
    libc.backtrace(frames, 1)  # loads the library that unwinds
    before = {number: ctypes.create_string_buffer(_ACTION) for number in FATAL}

    def show(number: int) -> None:
        libc.sigaction(number, before[signal.Signals(number)], None)
        count = libc.backtrace(frames, _MOST)
        libc.write(2, TITLE, len(TITLE))
        libc.backtrace_symbols_fd(frames, count, 2)
        if number == signal.SIGABRT:  # abort() calls no second handler; others fault again
            libc.kill(libc.getpid(), number)

    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(show)
    libc.signal.argtypes = ctypes.c_int, ctypes.c_void_p
    for number in FATAL:
        libc.sigaction(number, None, before[number])
        libc.signal(number, ctypes.cast(handler, ctypes.c_void_p))
    _kept.append(handler)


def unblock(library: str) -> None:
    """Let the threads of a loaded library take fatal signals, though it blocks all signals in them.

    A signal that is blocked ends the process without a handler. The library's sigfillset becomes sigemptyset,
    where the table of its functions can be written (ELF, 64 bits, lazy binding); else nothing changes.
    """
    with open("/proc/self/maps") as lines:  # noqa: PTH123 (nothing is imported twice)
        maps = [line.split() for line in lines if library in line]
    if not maps:
        return
    base = int(maps[0][0].partition("-")[0], 16)
    with open(maps[0][-1], "rb") as file:  # noqa: PTH123
        slot = _slot(file.read(), b"sigfillset")
    for addresses, access, *_ in maps:
        begin, end = (int(address, 16) for address in addresses.split("-"))
        if slot and begin <= base + slot < end and "w" in access:
            function = ctypes.CDLL(None).sigemptyset
            pointer = ctypes.cast(function, ctypes.c_void_p)
            ctypes.c_void_p.from_address(base + slot).value = pointer.value


def _slot(elf: bytes, function: bytes) -> int:
    """Return the address of a function's pointer in an ELF file's memory; 0 if there is none."""
    if elf[:6] != b"\x7fELF\x02\x01":
        return 0
    (table,) = struct.unpack_from("<Q", elf, 40)
    (count,) = struct.unpack_from("<H", elf, 60)
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", elf, table + 64 * index) for index in range(count)
    ]
    for _, kind, flags, _, offset, size, linked, *_ in sections:
        if kind != 4 or not flags & 0x40:  # relocations with addends, of one section's pointers
            continue
        symbols, strings = sections[linked][4], sections[sections[linked][6]][4]
        for slot, info, _ in struct.iter_unpack("<QQq", elf[offset : offset + size]):
            (name,) = struct.unpack_from("<I", elf, symbols + 24 * (info >> 32))
            if elf.startswith(function + b"\0", strings + name):
                return int(slot)
    return 0
