"""Playbooks as text: steps between `;`, each a verb and its arguments, of one or more connections.

    ask 1 2; sent 1; wait 50; sent 1 2; two.ask 3; released 1

A message is the correlation id of a Heartbeat, or an API and an id (`Metadata2`); `1/0` is one with acks=0,
`1@you` of another client, `1!27` a response with that error. `two.` before a verb is another connection than
the first; `order` is that in which the requests of all of them left.
"""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

from barnabas.specs.frames import Direction
from tests.proxy.faults.examples import EXAMPLES
from tests.proxy.faults.given import Play, halted, produce
from tests.proxy.faults.test_all import whole_frames
from tests.proxy.frames import (
    Chunks,
    heartbeat_request,
    heartbeat_response,
    request,
    response,
    slicings,
)
from tests.proxy.playbook import MS, Actor, Stage

VERSIONS: Final = {"Produce": 7, "JoinGroup": 2, "LeaveGroup": 0, "Metadata": 1}


def frames_of(tokens: str, direction: Direction) -> bytes:
    """The bytes of messages."""
    out = b""
    for token in tokens.split():
        parts = re.fullmatch(r"([A-Za-z]*)(\d+)(?:/(\d)|!(\d+)|@(\w+))?", token)
        assert parts is not None, token
        name, number = parts[1] or "Heartbeat", int(parts[2])
        if parts[5]:
            out += request(name, number, client=parts[5])
        elif direction == "response" and name == "Heartbeat":
            out += heartbeat_response(number, int(parts[4] or 0))
        elif direction == "response":
            out += response(name, number, version=VERSIONS[name])
        elif name == "Heartbeat":
            out += heartbeat_request(number)
        elif name == "Produce":
            out += produce(number, int(parts[3] or 1))
        else:
            out += request(name, number, version=VERSIONS[name])
    return out


class Noted(Actor):
    """A connection that also notes what leaves it among what leaves the others."""

    def __init__(self, stage: Stage, name: str, order: list[str]) -> None:
        super().__init__(stage, len(stage.actors) + 1, 1)
        stage.actors.append(self)
        self.name, self.order = name, order

    def _send(self, direction: Direction, data: bytes) -> None:
        before = self.left_whole(direction)
        super()._send(direction, data)
        way = "" if direction == "request" else "<"
        self.order += [way + self.name + i for i in self.left_whole(direction)[len(before) :]]

    def left_whole(self, direction: Direction) -> list[str]:
        """The correlation ids of what has left to its end."""
        at = 8 if direction == "request" else 4
        found = whole_frames(bytes(self.sent[direction]))
        return [str(int.from_bytes(frame[at : at + 4])) for frame in found]


PLAYS = [(name, play) for name, found in EXAMPLES.items() for play in found.plays]


@slicings
@pytest.mark.parametrize(
    ("fault", "play"), PLAYS, ids=[f"{name}-{play.shows}" for name, play in PLAYS]
)
def test_what_comes_of_it(fault: str, play: Play, chunks: Chunks) -> None:
    do = play.do if play.do.startswith("[") else f"{{{fault}: {play.do}}}"
    rule = f"{{name: r, match: {play.match}, when: {play.when}, do: {do}}}"
    stage = Stage(f"version: 1\nseed: 7\nrules:\n- {rule}\n")
    actors: dict[str, Noted] = {}
    order: list[str] = []
    for step in play.script.split(";"):
        words, _, arguments = step.strip().partition(" ")
        name, dot, verb = words.rpartition(".")
        if name not in actors:
            actors[name] = Noted(stage, name + dot, order)
        found, expected = done(actors[name], verb, arguments, chunks)
        assert found == expected, step


def done(actor: Noted, verb: str, arguments: str, chunks: Chunks) -> tuple[Any, Any]:
    """Do a step; what there is and what there should be, if it is one that looks."""
    stage, connection = actor.stage, actor.connection
    numbers = [float(word) for word in arguments.split() if word.replace(".", "", 1).isdigit()]
    match verb:
        case "ask":
            actor.ask(frames_of(arguments, "request"), chunks)
        case "answer":
            actor.answer(frames_of(arguments, "response"), chunks)
        case "wait":
            stage.wait(numbers[0])
        case "end":
            actor.end("request" if arguments == "request" else "response")
        case "close":
            actor.close()
        case "release":
            stage.release(arguments)
        case "decide":
            stage.decide(arguments)
        case "forget":
            stage.replace("version: 1\nrules: []")
        case "sent":
            return bytes(actor.sent["request"]), frames_of(arguments, "request")
        case "got":
            return bytes(actor.sent["response"]), frames_of(arguments, "response")
        case "at":
            return [at for at, _ in actor.times["request"]], numbers
        case "order":
            back = "<" in arguments
            return [left for left in actor.order if left.startswith("<") is back], arguments.split()
        case "notes":
            return [x.note for x in actor.done], [arguments]
        case "oversleep":
            stage.now += int(numbers[0]) * MS
        case "finished":
            return actor.finished, arguments.split()
        case "full":
            directions: tuple[Direction, ...] = ("request", "response")
            return [way for way in directions if connection.full(way)], arguments.split()
        case "halted":
            return [waiting.id for waiting in halted(*stage.actors)], arguments.split()
        case "told":
            return sorted(x.correlation_id for x in actor.done), numbers
        case "open" | "aborted":
            return actor.aborted, verb == "aborted"
        case "idle":
            return connection.idle, True
        case "sleeps":
            return connection.wake, None
        case "left":
            return [way for way, *_ in actor.left], arguments.split()
        case _:
            return getattr(stage.rules.rule("r"), verb), numbers[0]
    return None, None
