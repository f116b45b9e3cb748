"""Frames in which a client hangs, in the dump that SIGQUIT causes: of Go, Python's faulthandler, or a JVM."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from barnabas.fuzz.observations.crashes import go_frames, python_frames
from barnabas.fuzz.observations.helper_frames import without_pollers
from barnabas.fuzz.observations.java_stacks import frames as java_frames

_GOROUTINE: Final = re.compile(r"^goroutine (\d+)\b.*\[([^\]]+)\]:$", re.MULTILINE)
_PYTHON_THREAD: Final = re.compile(r"^(?:Current thread|Thread) 0x\w+.*\n", re.MULTILINE)
_JAVA_THREAD: Final = re.compile(r'^"[^"]+" #\d+ .*$', re.MULTILINE)

_IDLE: Final = re.compile(
    r'  File "[^"]*/(?:selectors|threading|queue|socket|ssl)\.py", '
    r"line \d+ in (?:\w*wait\w*|select|get|recv\w*)$"
)
"""The innermost frame of a thread of Python that waits."""
_JAVA_IDLE: Final = re.compile(r"^\s+at \S*\(\S*Native Method\)$")
"""The innermost frame of a thread of Java that waits, or is in the system."""
_JAVA_BACKGROUND: Final = re.compile(r"\.(?:run|runOnce|doWork)$")
"""The outermost frame of a background thread of Kafka's."""


class _Stack(NamedTuple):
    """A thread's stack."""

    runs: bool
    """Whether it may use a processor."""
    calls: bool
    """Whether the program called the library in this thread."""
    frames: tuple[str, ...]


def hang_frames(dump: str, *, computes: bool) -> tuple[str, ...]:
    r"""Return the library's frames in which a client hangs, the innermost first; () if the dump has none.

    Loops in which all calls wait for the network are left out, unless there is nothing else.

    Args:
        dump: What Go, Python's faulthandler or a JVM prints upon SIGQUIT.
        computes: The client uses a processor: the thread that runs hangs, else the program's own, which
            waits for the library.

    >>> dump = "goroutine 1 [select]:\nk.Wait()\nmain.run()\n\ngoroutine 7 [runnable]:\nk.Loop()\n\n"
    >>> hang_frames(dump, computes=True), hang_frames(dump, computes=False)
    (('k.Loop',), ('k.Wait',))
    """
    stacks = [stack for stack in _stacks(dump) if stack.frames]
    hanging = [stack for stack in stacks if (stack.runs if computes else stack.calls)]
    return without_pollers(hanging[0].frames) if hanging else ()


def _stacks(dump: str) -> Iterator[_Stack]:
    if _GOROUTINE.search(dump):
        for match in _GOROUTINE.finditer(dump):
            runs = match[2] in ("running", "runnable")
            yield _Stack(runs, match[1] == "1", go_frames(dump[match.end() :]))
    elif _JAVA_THREAD.search(dump):
        for block in dump.split("\n\n"):
            if _JAVA_THREAD.search(block):
                yield _java_stack(block)
    else:
        for thread in _PYTHON_THREAD.split(dump)[1:]:
            runs = not _IDLE.match(thread.partition("\n")[0])
            yield _Stack(runs, "/programs/" in thread, python_frames(thread))


def _java_stack(block: str) -> _Stack:
    lines = block.splitlines()
    innermost = next((line for line in lines if line.lstrip().startswith("at ")), "")
    frames = java_frames(block)
    runs = any("State: RUNNABLE" in line for line in lines) and not _JAVA_IDLE.match(innermost)
    return _Stack(runs, not _JAVA_BACKGROUND.search("".join(frames[-1:])), frames)
