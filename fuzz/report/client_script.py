"""A finding of a client as a script of Python's standard library that acts as the client's broker.

It sends the responses of a recorded session, by API and version, and the case instead of one of them, or of
each further one, if the context of the session repeats it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.fuzz.bench_broker.broker import Broker
from barnabas.fuzz.bench_broker.contexts.context import Context
from barnabas.fuzz.bench_broker.contexts.registry import context_of
from barnabas.fuzz.bench_broker.planted import ADDRESS, filled
from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.wording import made_of
from barnabas.fuzz.report.script import in_rows, wrapped
from barnabas.specs.registry import NAMES

FRAME: Final = Path(__file__).with_name("client_script.txt")

_EACH: Final = """Each session has
a broker of its own: in the order in which they are printed, on ports that follow each other. One process of
the client has one session after the other."""

_BEHIND_ID: Final = 8
_IDS: Final = (0x5EED0001, 0x0BADCAFE)
"""Two correlation ids: bytes that differ between cases filled with them are the correlation id."""


class Session(NamedTuple):
    """A session for the client.

    recorded: its broker with the case, and that of a valid session, for APIs that it lacks. about: what the
    client does.
    """

    case: Case
    recorded: Sequence[Broker]
    workload: str


def client_script(title: str, sessions: Sequence[Session]) -> str:
    """Return the script.

    title: lines with the result of the last session, which the script prints at the end.
    """
    lines = title.splitlines()
    for session in sessions:
        lines += [
            f"Answered: {made_of(session.case.recipe)}",
            *_around(context_of(session.case)),
            f"The client: {session.workload}",
        ]
    more = "" if len(sessions) == 1 else _EACH
    text = FRAME.read_text("utf-8").replace("ABOUT", wrapped(lines), 1).replace(" MORE", more, 1)
    return text.replace("    SESSIONS\n", "".join(map(_session, sessions)), 1)


def _around(context: Context) -> Iterator[str]:
    """Yield what is unusual about the answers around a case."""
    if any(turn.ordinal is not None for turn in context.turns):
        yield "Before it, the client is refused, or given another state, as recorded."
    if context.repeats:
        yield "Each further request of its API and version gets the case, too."
    if context.distorted:
        yield f"Up to {context.distorted} answers after it have a wrong value, as recorded."


def _session(session: Session) -> str:
    api_version = session.case.recipe.seed.key, session.case.recipe.seed.version
    context = context_of(session.case)
    return (
        "    {\n"
        f'        "asked": {api_version},\n'
        f'        "after": {_answers_before(context)},\n'
        f'        "repeats": {context.repeats},\n'
        f'        "delivery": "{session.case.delivery}",\n'
        f'        "case": [\n{_indented(_chunks(session.case))}        ],\n'
        f'        "valid": {{\n{_indented(_answers(session.recorded, context))}        }},\n'
        "    },\n"
    )


def _answers_before(context: Context) -> dict[int, int]:
    """Return the number of answers that a context changes before the case, by API key."""
    numbers: dict[int, int] = {}
    for turn in context.turns:
        if turn.ordinal is not None:
            numbers[turn.key] = max(turn.ordinal + 1, numbers.get(turn.key, 0))
    return numbers


Answers = dict[int, list[bytes]]
"""The checksum of a request -> the answers to it, in order; the requests are in order, too."""


def _given(broker: Broker) -> dict[tuple[int, int], Answers]:
    """Return the valid responses by API key and version, as if the broker listened at ADDRESS.

    Equal ones at the end of the answers to a request appear once.
    """
    live, advertised = (
        host.encode() + struct.pack(">i", port)
        for host, port in ((broker.cluster.host, broker.cluster.port), ADDRESS)
    )
    responses: dict[tuple[int, int], Answers] = {}
    for key, version, frame, checksum in broker.given:
        answers = responses.setdefault((key, version), {})
        answers.setdefault(checksum, []).append(frame.replace(live, advertised))
    for answers in responses.values():
        for frames in answers.values():
            while len(frames) > 1 and frames[-1][_BEHIND_ID:] == frames[-2][_BEHIND_ID:]:
                frames.pop()
    return responses


def _answers(recorded: Sequence[Broker], context: Context) -> Iterator[str]:
    responses: dict[tuple[int, int], Answers] = {}
    for broker in recorded:
        given = _given(broker)
        if context.distorted:  # the last one may be wrong, and would be repeated
            for api, answers in responses.items():
                for checksum, frames in answers.items():
                    frames += given.get(api, {}).get(checksum, [])[-1:]
        responses = {**given, **responses}
    for (key, version), answers in sorted(responses.items()):
        yield f"({key}, {version}): ("
        yield f'    "{NAMES[key]} v{version}",'
        yield "    {"
        for checksum, frames in answers.items():
            yield f"        {checksum}: ["
            for frame in frames:
                yield from (f"            {row}" for row in in_rows(frame))
            yield "        ],"
        yield "    },"
        yield "),"


def _chunks(case: Case) -> Iterator[str]:
    first, second = (filled(case, correlation_id, *ADDRESS) for correlation_id in _IDS)
    for chunk, differing in zip(first, second, strict=True):
        yield "("
        yield from (f"    {row}" for row in in_rows(chunk))
        yield f"    {chunk != differing},"
        yield "),"


def _indented(lines: Iterator[str]) -> str:
    return "".join(f"{' ' * 12}{line}\n" for line in lines)
