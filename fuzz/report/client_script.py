"""A finding of a client as a script of Python's standard library, which is its broker.

It gives the answers of a recorded session, by API and version, and the case in the place of one of them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.fuzz.answering.broker import Broker
from barnabas.fuzz.answering.planted import ADDRESS, filled
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
"""Two correlation ids: what differs between cases filled with them is one."""


class Session(NamedTuple):
    """A session that a client is to have. recorded: its brokers with the case, and others for what was not
    asked in it. about: what the client does."""

    case: Case
    recorded: Sequence[Broker]
    about: str


def client_script(title: str, sessions: Sequence[Session]) -> str:
    """The whole script. title: lines that say what came of the last session, behind the others."""
    about = title.splitlines()
    for one in sessions:
        about += [f"Answered: {made_of(one.case.recipe)}", f"The client: {one.about}"]
    more = "" if len(sessions) == 1 else _EACH
    text = FRAME.read_text("utf-8").replace("ABOUT", wrapped(about), 1).replace(" MORE", more, 1)
    return text.replace("    SESSIONS\n", "".join(map(_session, sessions)), 1)


def _session(one: Session) -> str:
    asked = one.case.recipe.seed.key, one.case.recipe.seed.version
    return (
        "    {\n"
        f'        "asked": {asked},\n'
        f'        "delivery": "{one.case.delivery}",\n'
        f'        "case": [\n{_indented(_chunks(one.case))}        ],\n'
        f'        "valid": {{\n{_indented(_answers(one.recorded))}        }},\n'
        "    },\n"
    )


def _given(broker: Broker) -> dict[tuple[int, int], list[bytes]]:
    """By API key and version, as if the broker listened at ADDRESS; the same at the end is there once."""
    here, there = (
        host.encode() + struct.pack(">i", port)
        for host, port in ((broker.cluster.host, broker.cluster.port), ADDRESS)
    )
    found: dict[tuple[int, int], list[bytes]] = {}
    for key, version, answer in broker.given:
        found.setdefault((key, version), []).append(answer.replace(here, there))
    for answers in found.values():
        while len(answers) > 1 and answers[-1][_BEHIND_ID:] == answers[-2][_BEHIND_ID:]:
            answers.pop()
    return found


def _answers(recorded: Sequence[Broker]) -> Iterator[str]:
    found: dict[tuple[int, int], list[bytes]] = {}
    for broker in recorded:
        found = {**_given(broker), **found}
    for (key, version), answers in sorted(found.items()):
        yield f"({key}, {version}): ("
        yield f'    "{NAMES[key]} v{version}",'
        yield "    ["
        for answer in answers:
            yield from (f"        {row}" for row in in_rows(answer))
        yield "    ],"
        yield "),"


def _chunks(case: Case) -> Iterator[str]:
    one, other = (filled(case, correlation_id, *ADDRESS) for correlation_id in _IDS)
    for chunk, differing in zip(one, other, strict=True):
        yield "("
        yield from (f"    {row}" for row in in_rows(chunk))
        yield f"    {chunk != differing},"
        yield "),"


def _indented(lines: Iterator[str]) -> str:
    return "".join(f"{' ' * 12}{line}\n" for line in lines)
