"""Java's stack traces in a log: the class of each exception, and the innermost frames of Kafka's own."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

FRAMES: Final = 3
"""Innermost frames of Kafka's own code that tell one bug from another."""

ENDS_ITSELF: Final = re.compile(r"# A fatal error|Terminating due to|Halting because")
"""What a JVM or a broker says when it ends itself."""

_CLASS: Final = re.compile(
    r"(?:^|Caused by: |[\s:(])((?:[a-z_$][\w$]*\.)+(?:[A-Z][\w$]*)?(?:Exception|Error|Throwable))\b"
)
_FRAME: Final = re.compile(r"^\s+at (?:[\w.@]+/)*([\w.$<>]+)\.([\w$<>]+)\(")
_OURS: Final = ("org.apache.kafka.", "kafka.")
_LAMBDA: Final = re.compile(
    r"(?<=\.)lambda\$|\$+(?:anonfun|Lambda|lambda)\$?|\$\d+|\d+(?:/0x[0-9a-f]+)?"
)
_GENERATED: Final = re.compile(
    r"(org\.apache\.kafka\.common\.(?:message|requests)\.)\w+?(RequestData|ResponseData|Request|Response)"
    r"(?:\$\w+)*(?=\.)"
)


class Raised(NamedTuple):
    """An exception of a log entry; `signature`: its class and frames without lines or numbers."""

    name: str
    message: str
    frames: tuple[str, ...]

    @property
    def signature(self) -> tuple[str, ...]:
        """What tells it from others."""
        return (self.name, *self.frames)


@lru_cache(maxsize=1024)
def raised(entry: str) -> tuple[Raised, ...]:
    r"""The exceptions of a log entry, the outermost first; the last is the cause of all.

    >>> found = raised("[x] ERROR a - b\njava.lang.Error: no\n\tat kafka.A.f(A.scala:7)\n\tat java.B.g(B)")
    >>> found[0].signature, found[0].message
    (('java.lang.Error', 'kafka.A.f'), 'no')
    >>> nested = "\n\tat kafka.A.lambda$null$0(A:1)\n\tat kafka.A.lambda$f$1(A:1)\n\tat kafka.A.f(A:1)"
    >>> raised("[x] ERROR a - b\njava.lang.Error: no" + nested)[0].frames
    ('kafka.A.f',)
    """
    found: list[tuple[str, str, list[str]]] = []
    for number, line in enumerate(entry.splitlines()):
        frame = _FRAME.match(line)
        if frame:
            own = _own(frame)
            if found and own and len(found[-1][2]) < FRAMES and own not in found[-1][2][-1:]:
                found[-1][2].append(own)
            continue
        if number and line.startswith(("[", "\t...")):
            continue
        matched = _CLASS.search(line)
        if matched and (number or " - " not in line or "java.lang." in line):
            message = line[matched.end() :].removeprefix(":").strip()
            found.append((matched[1], message, []))
    return tuple(Raised(name, message, tuple(frames)) for name, message, frames in found)


def frames(trace: str) -> tuple[str, ...]:
    r"""All frames of Kafka's own in the trace of a thread, the innermost first.

    >>> frames('"a" #1\n\tat java.util.X.get(X.java:1)\n\tat kafka.A.f(A.scala:7)\n\tat kafka.B.g(B:1)')
    ('kafka.A.f', 'kafka.B.g')
    """
    found = map(_FRAME.match, trace.splitlines())
    return tuple(own for one in found if one and (own := _own(one)))


def _own(frame: re.Match[str]) -> str:
    """A frame of Kafka's own; "" for another one, and for a lambda in a lambda: some compilers name it by the
    method around both, others by none."""
    if not frame[1].startswith(_OURS) or frame[2].startswith("lambda$null"):
        return ""
    return _plain(f"{frame[1]}.{frame[2]}")


def _plain(frame: str) -> str:
    """Without numbers of lambdas; code that is generated from definitions is one, whatever the message."""
    return _GENERATED.sub(r"\1*\2", _LAMBDA.sub("", frame)).rstrip("$")
