"""Java's stack traces in logs and thread dumps: exceptions, and the innermost frames of Kafka's own code."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from barnabas.fuzz.observations.helper_frames import FRAMES, naming_frames, own_frame

ENDS_ITSELF: Final = re.compile(r"# A fatal error|Terminating due to|Halting because")
"""Messages of a JVM or a broker that ends itself."""

_CLASS: Final = re.compile(
    r"(?:^|Caused by: |[\s:(])((?:[a-z_$][\w$]*\.)+(?:[A-Z][\w$]*)?(?:Exception|Error|Throwable))\b"
)
_FRAME: Final = re.compile(r"^\s+at (?:[\w.@]+/)*([\w.$<>]+)\.([\w$<>]+)\(")
_OURS: Final = ("org.apache.kafka.", "kafka.")
_LAMBDA: Final = re.compile(r"(?<=\.)lambda\$|\$+(?:anonfun|Lambda|lambda)\$?\d*|\$\d+")
_GENERATED: Final = re.compile(
    r"(org\.apache\.kafka\.common\.message\.)\w+?(RequestData|ResponseData)(?:\$\w+)*(?=\.)"
    r"|(org\.apache\.kafka\.common\.requests\.)\w+?(Request|Response)(?:\$\w+)*"
    r"(?=\.(?:<init>|parse|doParse\w+|parse(?:Request|Response)\w*)$)"
)
_MORE: Final = re.compile(r"^\s+\.\.\. (\d+) more")
"""The last line of a cause's frames: so many more are equal to the last of the exception that it caused."""


class JavaException(NamedTuple):
    """An exception of a log entry."""

    name: str
    message: str
    frames: tuple[str, ...]

    @property
    def signature(self) -> tuple[str, ...]:
        """Return what tells it from others: its class, and its frames without lines or numbers."""
        return (self.name, *self.frames)


@lru_cache(maxsize=1024)
def exceptions_in(entry: str) -> tuple[JavaException, ...]:
    r"""Return the exceptions of a log entry, the outermost first; the last is the root cause.

    >>> found = exceptions_in("[x] ERROR a - b\njava.lang.Error: no\n\tat kafka.A.f(A:7)\n\tat java.B.g(B)")
    >>> found[0].signature, found[0].message
    (('java.lang.Error', 'kafka.A.f'), 'no')
    >>> nested = "\n\tat kafka.A.lambda$null$0(A:1)\n\tat kafka.A.lambda$f$1(A:1)\n\tat kafka.A.f(A:1)"
    >>> exceptions_in("[x] ERROR a - b\njava.lang.Error: no" + nested)[0].frames
    ('kafka.A.f',)
    """
    exceptions: list[tuple[str, str, list[str]]] = []
    for number, line in enumerate(entry.splitlines()):
        frame = _FRAME.match(line)
        if frame:
            if exceptions:
                exceptions[-1][2].append(_own(frame))
            continue
        more = _MORE.match(line)
        if more and len(exceptions) > 1:
            exceptions[-1][2].extend(exceptions[-2][2][-int(more[1]) :])
        if number and line.startswith(("[", "\t...")):
            continue
        matched = _CLASS.search(line)
        if matched and (number or " - " not in line or "java.lang." in line):
            message = line[matched.end() :].removeprefix(":").strip()
            exceptions.append((matched[1], message, []))
    return tuple(
        JavaException(name, message, naming_frames([*_distinct(frames)]))
        for name, message, frames in _continued(exceptions)
    )


def _continued(
    exceptions: Sequence[tuple[str, str, list[str]]],
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield exceptions. An entry may be cut off: a cause of helpers alone goes on as what it caused."""
    before: list[str] = []
    for name, message, frames in exceptions:
        only_helpers = not own_frame([*filter(None, frames)])
        before = [*frames, *before] if only_helpers else frames
        yield name, message, before


def _distinct(frames: Sequence[str]) -> Iterator[str]:
    """Yield the frames of Kafka's own code; of equal ones in a row the first."""
    return (frame for frame, _ in itertools.groupby(filter(None, frames)))


def frames(trace: str) -> tuple[str, ...]:
    r"""Return all frames of Kafka's own code in a thread's trace, the innermost first.

    >>> frames('"a" #1\n\tat java.util.X.get(X.java:1)\n\tat kafka.A.f(A.scala:7)\n\tat kafka.B.g(B:1)')
    ('kafka.A.f', 'kafka.B.g')
    """
    matches = map(_FRAME.match, trace.splitlines())
    return tuple(kafka_frame for match in matches if match and (kafka_frame := _own(match)))


def _own(frame: re.Match[str]) -> str:
    """Return a frame of Kafka's own code; "" for another one.

    A lambda in a lambda counts as another one: compilers name it differently.
    """
    if not frame[1].startswith(_OURS) or frame[2].startswith("lambda$null"):
        return ""
    return _plain(f"{frame[1]}.{frame[2]}")


def _plain(frame: str) -> str:
    """Return a frame without numbers of lambdas.

    Code that is generated from definitions is one, whatever the message.
    """
    return _GENERATED.sub(r"\1\3*\2\4", _LAMBDA.sub("", frame)).rstrip("$")


_THREAD: Final = re.compile(r'^"[^"]+" .*\bnid=(0x[0-9a-f]+|\d+)', re.MULTILINE)
"""A thread's first line, with the system's id, in hexadecimal before Java 21."""


def common_frames(dumps: Sequence[str], thread: int) -> tuple[str, ...]:
    r"""Return the innermost frames of Kafka's code that a thread has in all dumps that show it.

    What these frames call differs each time. thread: the operating system's id.

    >>> dump = '"a" #1 nid=0x1f runnable\n\tat kafka.{}.g(G:1)\n\tat kafka.A.f(A:1)\n'
    >>> common_frames([dump.format("X"), "", dump.format("Y")], 31)
    ('kafka.A.f',)
    >>> common_frames([], 31)
    ()
    """
    stacks = [stack[::-1] for dump in dumps if (stack := _frames(dump, thread))]
    common = itertools.takewhile(lambda same: len(set(same)) == 1, zip(*stacks, strict=False))
    return tuple(same[0] for same in common)[::-1][:FRAMES]


def _frames(dump: str, thread: int) -> tuple[str, ...]:
    for block in dump.split("\n\n"):
        header = _THREAD.search(block)
        if header and int(header[1], 0) == thread:
            return frames(block[header.start() :])
    return ()
