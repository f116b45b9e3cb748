"""A finding of a broker as a script of Python's standard library, which runs without barnabas.

The script takes what only the broker knows (a member id, a producer id) from its responses, at the offsets
where the recording had them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.captures.kafka.wording import printable
from barnabas.fuzz.cases.case import Case, Live, Seed
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.cases.wording import made_of
from barnabas.fuzz.frame_map.fields import Part, field_of, map_of
from barnabas.fuzz.observations.exchanges import pair_responses
from barnabas.fuzz.report.script_preparation import preparation
from barnabas.fuzz.sessions.live_values import live_name
from barnabas.fuzz.targets.session_recording import RecordedExchange, SessionRecording
from barnabas.specs.codec.careful_decoder import FIXED
from barnabas.specs.error_codes import error_name
from barnabas.specs.registry import NAMES

WIDTH: Final = 96

FRAME: Final = Path(__file__).with_name("script.txt")
LOGIN: Final = Path(__file__).with_name("login.txt")

ERRORS: Final = (-1, 3, 5, 6, 7, 14, 15, 16, 22, 25, 27, 29, 30, 31, 35, 47, 48, 51, 53, 79)
"""Error codes of requests before the case that a script names."""

_IMPORTS: Final = ("socket", "sys", "time")
_LOGIN_IMPORTS: Final = ("base64", "hashlib", "hmac", "os", "secrets")


class Criterion(NamedTuple):
    """A sign of a finding that is visible from outside.

    Attributes:
        description: The sign in words.
        code: A Python expression of the response and the connection's ending.
    """

    description: str
    code: str


NO_CRITERION: Final = Criterion("the behaviour above: compare it with the output", "None")
_CLOSED: Final = Criterion("the connection ends without an answer", "ended and not came")
_ANSWERED: Final = Criterion("it is answered", "came > 0")
CRITERIA: Final = {
    "died": Criterion("connections are refused afterwards", "refused(where)"),
    "hung": Criterion("another client is not answered", "not served(where)"),
    "costly": Criterion("a thread of the broker's computes for seconds, as `top -H` shows", "None"),
    "unanswered": Criterion("no answer, and the connection stays", "not (came or ended)"),
}


def criterion(oracle: str, behaviour: Sequence[str]) -> Criterion:
    """Return the criterion of a finding."""
    if oracle == "closing":
        return _CLOSED if behaviour[1:2] == ("closed",) else _ANSWERED
    if oracle in ("logged", "fatal"):
        return Criterion(f"{behaviour[0]} in the broker's log", "None")
    return CRITERIA.get(oracle, NO_CRITERION)


_ONE_BROKER: Final = (
    "Before the case it leads the connection into a state: run it at a broker that is alone, or at the one "
    "that coordinates the group or the transaction."
)


_NEXT: Final = ("settle(sock)", "sock, answers = connect(where), []")
"""Lines between two cases."""


class CopiedBytes(NamedTuple):
    """Bytes of a request that are copied from a response.

    Attributes:
        at: The offset in the request.
        size: The number of bytes.
        answer: The index of the response.
        offset: The offset in the response.
    """

    at: int
    size: int
    answer: int
    offset: int


def script(
    title: str,
    case: Case,
    recorded: SessionRecording,
    login: tuple[str, str] | None = None,
    shown: Criterion = NO_CRITERION,
    earlier: Sequence[tuple[Case, SessionRecording]] = (),
) -> str:
    """Return the script.

    Args:
        title: Lines with the result.
        case: The case.
        recorded: The session before the case.
        login: The SASL mechanism and the user, if there is a login.
        shown: What shows the finding.
        earlier: Cases that must come before, each with its session and on its own connection.
    """
    lines = title.splitlines()
    lines += [f"Sent before: {made_of(before.recipe)}" for before, _ in earlier]
    lines.append(f"Sent: {made_of(case.recipe)}")
    recordings = [*(recording for _, recording in earlier), recorded]
    in_session = any(recording.session for recording in recordings)
    if in_session:
        lines.append(_ONE_BROKER)
    imports, functions, first = [*_IMPORTS], "", ""
    if login is not None:
        lines.append(f"Logs in by {login[0]} as {login[1]}: SASL_PASSWORD has the password.")
        imports += _LOGIN_IMPORTS
        functions = LOGIN.read_text("utf-8").replace("HOW", login[0]).replace("WHO", repr(login[1]))
        first = "    log_in(sock)\n"
    chunks = [chunk for recording in recordings for chunk in recording.chunks]
    steps = [line for before in earlier for line in (*_lines(*before), *_NEXT)]
    steps += _lines(case, recorded)
    made = "".join(f"    {line}\n" for line in preparation(chunks, in_session=in_session))
    return (
        FRAME.read_text("utf-8")
        .replace("IMPORTS\n", "".join(f"import {name}\n" for name in sorted(imports)))
        .replace("FUNCTIONS\n", functions)
        .replace("    LOGIN\n", first)
        .replace("    PREPARATION\n", made)
        .replace("    ERROR_NAMES\n", "".join(f'    {n}: "{error_name(n)}",\n' for n in ERRORS))
        .replace("    STEPS\n", "".join(f"    {line}\n" for line in steps))
        .replace("SHOWN", shown.code, 1)
        .replace("CRITERION", shown.description, 1)
        .replace("ABOUT", wrapped(lines), 1)
    )


def _lines(case: Case, recorded: SessionRecording) -> Iterator[str]:
    return (line for step in _steps(case, recorded) for line in step)


def wrapped(lines: Sequence[str]) -> str:
    """Return lines as the text of a docstring."""
    text = "\n".join(textwrap.fill(printable(line), WIDTH) for line in lines)
    return text.replace("\\", "/").replace('"', "'")


def in_rows(data: bytes) -> list[str]:
    """Return bytes as rows of a string of hexadecimal digits, with a comma at the end."""
    rows = [f'"{row}"' for row in textwrap.wrap(data.hex(), WIDTH - 8)] or ['""']
    return [*rows[:-1], f"{rows[-1]},"]


def _steps(case: Case, recorded: SessionRecording) -> Iterator[Iterator[str]]:
    requests = []
    for number, exchange in enumerate(recorded.session):
        frame = len(exchange.request).to_bytes(4, "big") + exchange.request
        requests.append((frame, [*_taken(frame, _places(exchange), recorded.session[:number])]))
    last = [_live(case, recorded, number) for number in range(len(recorded.chunks))]
    used = {
        copied.answer for taken in (*(taken for _, taken in requests), *last) for copied in taken
    }
    for number, (exchange, (frame, taken)) in enumerate(
        zip(recorded.session, requests, strict=True)
    ):
        yield _valid(exchange, frame, taken, number in used)
    yield _case(case, recorded, last)


def _live(case: Case, recorded: SessionRecording, number: int) -> list[CopiedBytes]:
    """Return the bytes that a chunk of the case copies from responses."""
    live = [field for field in case.live if field.chunk == number]
    return [*_taken(recorded.chunks[number], live, recorded.session)]


def _valid(
    exchange: RecordedExchange, frame: bytes, taken: Sequence[CopiedBytes], used: bool
) -> Iterator[str]:
    response = Seed(exchange.key, exchange.version, "response", exchange.response, "")
    errors = [
        part.start
        for part in map_of(response).parts
        if part.path.rpartition(".")[2] == "error_code" and part.value == 0
    ]
    yield f"# {NAMES[exchange.key]} v{exchange.version}"
    yield from _bytes("data", frame)
    yield from _put(taken)
    arguments = (
        f'"{NAMES[exchange.key]} v{exchange.version}", {len(exchange.response)}, {used}, {errors}'
    )
    yield f"answers.append(checked(sock, data, {arguments}))"


def _case(
    case: Case, recorded: SessionRecording, taken: Sequence[Sequence[CopiedBytes]]
) -> Iterator[str]:
    yield "# the case"
    for number, chunk in enumerate(recorded.chunks):
        yield from _bytes("data", chunk)
        live = [field for field in case.live if field.chunk == number]
        yield from _put(taken[number])
        yield from (f"mend(data, {field.offset})" for field in live if field.name == "crc")
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


def _put(taken: Sequence[CopiedBytes]) -> Iterator[str]:
    for at, size, answer, offset in taken:
        yield f"data[{at}:{at + size}] = answers[{answer}][{offset}:{offset + size}]"


def _places(exchange: RecordedExchange) -> list[Live]:
    """Return the fields of a session's request that only a session knows."""
    seed = Seed(exchange.key, exchange.version, "request", exchange.request, "")
    return [
        Live(0, 4 + part.start, part.end - part.start, name)
        for part in map_of(seed).parts
        if part.end > part.start and (name := live_name(part.path))
    ]


def _taken(
    chunk: bytes, places: Sequence[Live], known: Sequence[RecordedExchange]
) -> Iterator[CopiedBytes]:
    for field in places:
        value = chunk[field.offset : field.offset + field.size]
        source = _found(value, known)
        if source is not None:
            yield CopiedBytes(field.offset, field.size, *source)


def _found(value: bytes, known: Sequence[RecordedExchange]) -> tuple[int, int] | None:
    """Return the last response, and the offset, with this value in a field that sessions know."""
    for number in reversed(range(len(known))):
        key, version, _, response = known[number]
        for part in map_of(Seed(key, version, "response", response, "")).parts:
            if live_name(part.path) and response[part.start : part.end] == value:
                return number, part.start
    return None


def server_error(observation: Observation, path: str) -> Criterion | None:
    """Return a criterion for UNKNOWN_SERVER_ERROR, by its offset in a response; None without such a response.

    The script reads no schema. If a field of variable length precedes, the offset holds only for a response
    of the same size. path: of the error code, without indices.
    """
    _, exchanges = pair_responses(observation)
    for number, exchange in enumerate(exchanges):
        if exchange.reply is None or not exchange.has_layout or exchange.cut:
            continue
        seed = Seed(exchange.head.key, exchange.head.version, "response", exchange.reply, "")
        parts = map_of(seed).parts
        for index, part in enumerate(parts):
            if part.value == -1 and field_of(part.path).replace("[]", "") == path:
                size = None if _fixed(parts[:index]) else len(exchange.reply)
                response_name = f"answer {number + 1}" if len(exchanges) > 1 else "the answer"
                return Criterion(
                    f"{response_name} has error code -1, UNKNOWN_SERVER_ERROR, at byte {part.start}",
                    f"minus_one(received, {number}, {part.start}, {size})",
                )
    return None


def _fixed(before: Sequence[Part]) -> bool:
    """Return whether the parts before a field have a constant size; the tags of a header are none."""
    return all(
        part.kind in FIXED or part.path in ("", "header") or part.path.startswith("header._tags")
        for part in before
    )
