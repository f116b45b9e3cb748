"""Crashes in the last output of a process: a panic of Go, a fault of Python or of C, and its location."""

from __future__ import annotations

import re
import signal
from typing import Final, NamedTuple

from barnabas.fuzz.observations.helper_frames import naming_frames

_NUMBER: Final = re.compile(r"0x[0-9a-fA-F]+|-?\d+")
_PANIC: Final = re.compile(r"^(panic|fatal error): (.*)$", re.MULTILINE)
_GOROUTINE: Final = re.compile(r"^goroutine \d+.*\[running.*\]:$", re.MULTILINE)
_ASSERTION: Final = re.compile(r"(\S+): Assertion [`'](.*?)['`] failed")
_RDKAFKA: Final = re.compile(r"^\*\*\* \S+?:\d+:(\w+): (.*) \*\*\*$", re.MULTILINE)
"""The message before an abort of librdkafka (rd_kafka_crash): file, line, function, reason."""
_ALLOCATOR: Final = re.compile(
    r"^(?:free|malloc|realloc|calloc|munmap_chunk)\(\): .*|^double free or corruption.*"
    r"|^corrupted (?:size|double-linked).*|^\*\*\* stack smashing detected \*\*\*",
    re.MULTILINE,
)
"""The message of glibc before an abort."""
HEAP: Final = "heap corruption"
"""The reason of such an abort: the allocator finds the damage in any function, and in several ways."""
_FAULT: Final = re.compile(r"^Fatal Python error: (.*)$", re.MULTILINE)
_NATIVE: Final = re.compile(r"^Native stack:\n((?:  \w+ \(\S+\)\n)+)", re.MULTILINE)
"""The functions of installed libraries in C, the innermost first (fuzz/targets/clients/native_frames.py)."""
_PYTHON: Final = re.compile(r'^  File "(.*)", line \d+ in (.*)$', re.MULTILINE)
_NOT_THEIRS: Final = ("runtime.", "runtime/", "panic(", "main.", "internal/", "reflect.")
_CONDITION: Final = 160
"""Characters of an assertion's condition: macros of C can be pages."""


class Crash(NamedTuple):
    """The reason, without numbers, and the innermost frames that are neither Go's nor our program's."""

    reason: str
    frames: tuple[str, ...]


def describe_exit(code: int | None) -> str:
    """Describe how a process ended, by its exit code (negative: a signal; None: unknown).

    >>> describe_exit(3), describe_exit(-9), describe_exit(None)
    ('exit code 3', 'signal SIGKILL', 'its address refuses connections')
    """
    if code is None:
        return "its address refuses connections"
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def find_crash(words: str) -> Crash | None:
    r"""Return the crash that the last output reports; None if there is none.

    >>> find_crash("panic: runtime error: index out of range [5]\n\ngoroutine 7 [running]:\n"
    ...       "github.com/a/b.(*C).read(0xc0)\n\t/b.go:3 +0x1\nmain.main()\n")
    Crash(reason='panic: runtime error: index out of range [N]', frames=('github.com/a/b.(*C).read',))
    >>> find_crash("free(): invalid size\nFatal Python error: Aborted\n")
    Crash(reason='heap corruption', frames=())
    >>> find_crash("*** rdkafka_buf.h:812:rd_kafka_buf_read: assert: len > 4 ***")
    Crash(reason='assert: len > N', frames=('rd_kafka_buf_read',))
    """
    panic = _PANIC.search(words)
    if panic is not None:
        reason = _NUMBER.sub("N", f"{panic[1]}: {panic[2]}".removesuffix(" [recovered]"))
        running = _GOROUTINE.search(words, panic.end())
        return Crash(reason, naming_frames(go_frames(words[running.end() :]) if running else ()))
    stack = _NATIVE.search(words)
    native = tuple(line.split()[0] for line in stack[1].splitlines()) if stack else ()
    assertion = _ASSERTION.search(words)
    if assertion is not None:
        reason = f"assertion: {assertion[2][:_CONDITION]}"
        return Crash(reason, _distinct(assertion[1], *native))
    librdkafka = _RDKAFKA.search(words)
    if librdkafka is not None:
        reason = _NUMBER.sub("N", librdkafka[2])
        return Crash(reason, _distinct(librdkafka[1], *native))
    if _ALLOCATOR.search(words):
        return Crash(HEAP, ())
    fault = _FAULT.search(words)
    if fault is not None:
        _, _, crashed = words[fault.end() :].partition("\nCurrent thread ")
        thread, _, _ = crashed.partition("\n\n")
        return Crash(f"Fatal Python error: {fault[1]}", _distinct(*native, *python_frames(thread)))
    return None


def _distinct(*frames: str) -> tuple[str, ...]:
    """Return the frames that name a crash; an assertion's function may be the innermost frame, too."""
    return naming_frames([*dict.fromkeys(frames)])


def python_frames(stack: str) -> tuple[str, ...]:
    """Return the functions of installed libraries in a thread's stack, as faulthandler prints it."""
    calls = [(file.rpartition("site-packages/"), name) for file, name in _PYTHON.findall(stack)]
    return tuple(f"{file}:{name}" for (_, below, file), name in calls if below)


def go_frames(stack: str) -> tuple[str, ...]:
    """Return the innermost functions of one goroutine that are neither Go's own nor the program's."""
    goroutine, _, _ = stack.lstrip("\n").partition("\n\n")
    names = [
        line.rpartition("(")[0]
        for line in goroutine.splitlines()
        if not line.startswith(("\t", "created by")) and line.endswith(")")
    ]
    return tuple(name for name in names if not f"{name}(".startswith(_NOT_THEIRS))
