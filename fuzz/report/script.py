"""A finding of a broker as a script of Python's standard library: for those who have no barnabas.

What only the broker knows (a member id, a producer id) the script takes from its answers, where the recording
had it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.captures.kafka.wording import printable
from barnabas.fuzz.cases.case import Case, Live, Seed
from barnabas.fuzz.cases.wording import made_of
from barnabas.fuzz.frame_map.fields import map_of
from barnabas.fuzz.sessions.live import live_name
from barnabas.fuzz.targets.recording import Asked, Recorded
from barnabas.specs.error_codes import error_name
from barnabas.specs.registry import NAMES

WIDTH: Final = 96

FRAME: Final = Path(__file__).with_name("script.txt")
LOGIN: Final = Path(__file__).with_name("login.txt")

ERRORS: Final = (-1, 3, 5, 6, 7, 14, 15, 16, 22, 25, 27, 29, 30, 31, 35, 47, 48, 51, 53, 79)
"""Error codes that a request before the case may meet, which a script names."""

_IMPORTS: Final = ("socket", "sys", "time")
_LOGIN_IMPORTS: Final = ("base64", "hashlib", "hmac", "os", "secrets")


class Criterion(NamedTuple):
    """What shows a finding from outside: in words, and as Python's of what came and of how it ended."""

    said: str
    code: str


UNTOLD: Final = Criterion("what is said above, which takes a look at what came", "None")
_CLOSED: Final = Criterion("the connection ends without an answer", "ended and not came")
_ANSWERED: Final = Criterion("it is answered", "came > 0")
CRITERIA: Final = {
    "died": Criterion("connections are refused afterwards", "refused(where)"),
    "hung": Criterion("another client is not answered", "not served(where)"),
    "costly": Criterion("a thread of the broker's computes for seconds, as `top -H` shows", "None"),
    "unanswered": Criterion("no answer, and the connection stays", "not (came or ended)"),
}


def criterion(oracle: str, behaviour: Sequence[str]) -> Criterion:
    """That of a finding."""
    if oracle == "closing":
        return _CLOSED if behaviour[1:2] == ("closed",) else _ANSWERED
    if oracle in ("logged", "fatal"):
        return Criterion(f"{behaviour[0]} in the broker's log", "None")
    return CRITERIA.get(oracle, UNTOLD)


_ONE_BROKER: Final = (
    "Before the case it leads the connection into a state: run it at a broker that is alone, or at the one "
    "that coordinates the group or the transaction."
)


class Taken(NamedTuple):
    """Bytes that are taken from an answer: where they go, how many, and from which answer and where in it."""

    at: int
    size: int
    answer: int
    offset: int


def script(
    title: str,
    case: Case,
    recorded: Recorded,
    login: tuple[str, str] | None = None,
    shown: Criterion = UNTOLD,
) -> str:
    """The whole script. title: lines that say what came of it. login: by which mechanism of SASL, and as whom
    it logs in first. shown: when it is."""
    lines = [*title.splitlines(), f"Sent: {made_of(case.recipe)}"]
    if recorded.session:
        lines.append(_ONE_BROKER)
    imports, functions, first = [*_IMPORTS], "", ""
    if login is not None:
        lines.append(f"Logs in by {login[0]} as {login[1]}: SASL_PASSWORD has the password.")
        imports += _LOGIN_IMPORTS
        functions = LOGIN.read_text("utf-8").replace("HOW", login[0]).replace("WHO", repr(login[1]))
        first = "    log_in(sock)\n"
    steps = (line for step in _steps(case, recorded) for line in step)
    return (
        FRAME.read_text("utf-8")
        .replace("IMPORTS\n", "".join(f"import {name}\n" for name in sorted(imports)))
        .replace("FUNCTIONS\n", functions)
        .replace("    LOGIN\n", first)
        .replace("    ERROR_NAMES\n", "".join(f'    {n}: "{error_name(n)}",\n' for n in ERRORS))
        .replace("    STEPS\n", "".join(f"    {line}\n" for line in steps))
        .replace("SHOWN", shown.code, 1)
        .replace("CRITERION", shown.said, 1)
        .replace("ABOUT", wrapped(lines), 1)
    )


def wrapped(lines: Sequence[str]) -> str:
    """Lines for a docstring."""
    text = "\n".join(textwrap.fill(printable(line), WIDTH) for line in lines)
    return text.replace("\\", "/").replace('"', "'")


def in_rows(data: bytes) -> list[str]:
    """Bytes as a string of hexadecimal digits, in rows; a comma behind it."""
    rows = [f'"{row}"' for row in textwrap.wrap(data.hex(), WIDTH - 8)] or ['""']
    return [*rows[:-1], f"{rows[-1]},"]


def _steps(case: Case, recorded: Recorded) -> Iterator[Iterator[str]]:
    requests = []
    for number, asked in enumerate(recorded.session):
        frame = len(asked.request).to_bytes(4, "big") + asked.request
        requests.append((frame, [*_taken(frame, _places(asked), recorded.session[:number])]))
    last = [_live(case, recorded, number) for number in range(len(recorded.chunks))]
    used = {one.answer for taken in (*(taken for _, taken in requests), *last) for one in taken}
    for number, (asked, (frame, taken)) in enumerate(zip(recorded.session, requests, strict=True)):
        yield _valid(asked, frame, taken, number in used)
    yield _case(case, recorded, last)


def _live(case: Case, recorded: Recorded, number: int) -> list[Taken]:
    """What a chunk of the case takes from answers."""
    live = [place for place in case.live if place.chunk == number]
    return [*_taken(recorded.chunks[number], live, recorded.session)]


def _valid(asked: Asked, frame: bytes, taken: Sequence[Taken], used: bool) -> Iterator[str]:
    response = Seed(asked.key, asked.version, "response", asked.response, "")
    errors = [
        part.start
        for part in map_of(response).parts
        if part.path.rpartition(".")[2] == "error_code" and part.value == 0
    ]
    yield f"# {NAMES[asked.key]} v{asked.version}"
    yield from _bytes("data", frame)
    yield from _put(taken)
    told = f'"{NAMES[asked.key]} v{asked.version}", {len(asked.response)}, {used}, {errors}'
    yield f"answers.append(checked(sock, data, {told}))"


def _case(case: Case, recorded: Recorded, taken: Sequence[Sequence[Taken]]) -> Iterator[str]:
    yield "# the case"
    for number, chunk in enumerate(recorded.chunks):
        yield from _bytes("data", chunk)
        live = [place for place in case.live if place.chunk == number]
        yield from _put(taken[number])
        yield from (f"mend(data, {place.offset})" for place in live if place.name == "crc")
        yield "send(sock, data)" if case.delivery != "bytewise" else "send(sock, data, 1)"
    if case.delivery == "half_open":
        yield "sock.shutdown(socket.SHUT_WR)"


def _bytes(name: str, data: bytes) -> Iterator[str]:
    if len(data) <= WIDTH // 3:
        yield f'{name} = bytearray.fromhex("{data.hex()}")'
        return
    yield f"{name} = bytearray.fromhex("
    yield from (f"    {row}" for row in in_rows(data))
    yield ")"


def _put(taken: Sequence[Taken]) -> Iterator[str]:
    for at, size, answer, offset in taken:
        yield f"data[{at}:{at + size}] = answers[{answer}][{offset}:{offset + size}]"


def _places(asked: Asked) -> list[Live]:
    """Where a request of a session has what only a session knows."""
    seed = Seed(asked.key, asked.version, "request", asked.request, "")
    return [
        Live(0, 4 + part.start, part.end - part.start, name)
        for part in map_of(seed).parts
        if part.end > part.start and (name := live_name(part.path))
    ]


def _taken(chunk: bytes, places: Sequence[Live], known: Sequence[Asked]) -> Iterator[Taken]:
    for place in places:
        value = chunk[place.offset : place.offset + place.size]
        found = _found(value, known)
        if found is not None:
            yield Taken(place.offset, place.size, *found)


def _found(value: bytes, known: Sequence[Asked]) -> tuple[int, int] | None:
    """The last answer that has this value in a field of a kind that sessions know, and where."""
    for number in reversed(range(len(known))):
        key, version, _, response = known[number]
        for part in map_of(Seed(key, version, "response", response, "")).parts:
            if live_name(part.path) and response[part.start : part.end] == value:
                return number, part.start
    return None
