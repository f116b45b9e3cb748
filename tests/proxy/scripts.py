"""Playbooks as text: steps between `;`, each a verb and its arguments, of one or more connections.

    ask 1 2; sent 1; wait 50; sent 1 2; two.ask 3; released 1

A message is the correlation id of a Heartbeat, or an API and an id (`Metadata2`, and by the letters of NAMES
`C2`); `1/0` is one with acks=0, `1@you` of another client, `1!27` a response with that error; or a frame of
ODD by its name. `two.` before a verb is another connection than the first; `order` is that in which the
requests of all of them left. `replace hold late` has these rules of the play from now on, and without a name
none. What each of VERBS does or looks at stands in `_done`; any other is a counter of the first rule
(`released 1`).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from typing import Any, Final

import yaml

from barnabas.nearest import did_you_mean
from barnabas.specs.frames import Direction
from tests.proxy.faults.given import halted, produce
from tests.proxy.faults.test_all import whole_frames
from tests.proxy.frames import Chunks, heartbeat_request, raw, request, response, whole
from tests.proxy.playbook import MS, Actor, Stage

NAMES: Final = {
    "": "Heartbeat",
    "C": "OffsetCommit",
    "G": "ListGroups",
    "J": "JoinGroup",
    "L": "LeaveGroup",
    "P": "Produce",
}
VERSIONS: Final = {
    "OffsetCommit": 2, "ListGroups": 0, "Produce": 7, "JoinGroup": 2, "SaslHandshake": 0,
}  # fmt: skip
"""Version 1 of all others."""

_NUMBER, _WAYS = r"\d+(\.\d+)?", "(request|response)"
VERBS: Final = {
    "ask": ".*", "answer": ".*", "wait": _NUMBER, "end": _WAYS, "close": "", "release": ".+", "decide": ".+",
    "replace": ".*", "sent": ".*", "got": ".*", "at": f"({_NUMBER} ?)*", "order": ".*", "notes": ".*",
    "oversleep": _NUMBER, "finished": f"({_WAYS} ?)*", "full": f"({_WAYS} ?)*", "halted": ".*",
    "told": f"({_NUMBER} ?)*", "unsent": ".*", "read": f"({_NUMBER} ?)*", "depends": ".*", "open": "",
    "aborted": "", "idle": "", "unread": _NUMBER, "sleeps": "", "left": f"({_WAYS} ?)*",
}  # fmt: skip
"""The steps, and what their arguments look like."""

ODD: Final = {
    "empty": raw(b""),
    "short": raw(b"\0\0"),
    "cut-off": raw(b"\0\x0c\0"),
    "unreadable": raw(struct.pack(">hhih", 12, 1, 9, 7)),
    "newer": raw(struct.pack(">hhih", 18, 77, 5, 2) + b"me\0newer fields"),
    "nonsense": raw(b"who knows"),
    "token": raw(b"\0user\0secret"),
}
"""Frames that are no messages, or not of a version that is known."""


def frames_of(tokens: str, direction: Direction) -> bytes:
    """Return the bytes of messages."""
    out = b""
    for token in tokens.split():
        if token in ODD:
            out += ODD[token]
            continue
        parts = re.fullmatch(r"([A-Za-z]*)(\d+)(?:/(\d)|!(\d+)|@(\w+))?", token)
        assert parts is not None, token
        name, number = NAMES.get(parts[1], parts[1]), int(parts[2])
        version = VERSIONS.get(name, 1)
        error = {"error_code": int(parts[4])} if parts[4] else {}
        group = {"group_id": "g"} if name in ("OffsetCommit", "JoinGroup", "LeaveGroup") else {}
        if parts[5]:
            out += request(name, number, client=parts[5])
        elif direction == "response":
            out += response(name, number, version=version, **error)
        elif name == "Heartbeat":
            out += heartbeat_request(number)
        elif name == "Produce":
            out += produce(number, int(parts[3] or 1))
        else:
            out += request(name, number, version=version, **group)
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
        """Return the correlation ids of messages that have left completely."""
        at = 8 if direction == "request" else 4
        found = whole_frames(bytes(self.sent[direction]))
        return [str(int.from_bytes(frame[at : at + 4])) for frame in found]


def play(
    stage: Stage, script: str, chunks: Chunks = whole, rules: Mapping[str, str] | None = None
) -> None:
    """Act out a script, each connection in these chunks; rules: those that `replace` may name."""
    actors: dict[str, Noted] = {}
    order: list[str] = []
    for step in map(str.strip, script.split(";")):
        words, _, arguments = step.partition(" ")
        name, dot, verb = words.rpartition(".")
        _check(stage, step, verb, arguments)
        if name not in actors:
            actors[name] = Noted(stage, name + dot, order)
        found, expected = _done(actors[name], verb, arguments, chunks, rules or {})
        assert found == expected, f"{step} (what left: {' '.join(order)})"


def _check(stage: Stage, step: str, verb: str, arguments: str) -> None:
    """Raise ValueError for a step that is written wrongly."""
    counter = any(isinstance(getattr(rule, verb, None), int) for rule in stage.rules.rules[:1])
    pattern = VERBS.get(verb, _NUMBER if counter else None)
    if pattern is None:
        verbs = f"{', '.join(VERBS)}, or a counter of the first rule"
        raise ValueError(
            f"step {step!r}: no verb {verb!r}{did_you_mean(verb, VERBS)}; verbs: {verbs}"
        )
    if not re.fullmatch(pattern, arguments):
        raise ValueError(f"step {step!r}: the arguments of {verb!r} have to match {pattern!r}")


def scenario(names: str, rules: Mapping[str, str]) -> str:
    """Return a scenario of these rules; an empty one without any.

    >>> scenario("delay_51ms", {"delay_50ms": "do: {delay: 50ms}"})
    Traceback (most recent call last):
    ValueError: no rule 'delay_51ms'; did you mean 'delay_50ms'?
    """
    for name in names.split():
        if name not in rules:
            raise ValueError(f"no rule {name!r}{did_you_mean(name, rules)}")
    found = "".join(f"- {{name: {name}, {rules[name]}}}\n" for name in names.split())
    return f"version: 1\nseed: 7\nrules:\n{found or '  []'}"


def _done(
    actor: Noted, verb: str, arguments: str, chunks: Chunks, rules: Mapping[str, str]
) -> tuple[Any, Any]:
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
            message, _, do = arguments.partition(" ")
            stage.decide(message, yaml.safe_load(do) if do else None)
        case "replace":
            stage.replace(scenario(arguments, rules))
            if not arguments:
                queues = connection.state.queues.values()
                return [queue.idle and not queue.bytes for queue in queues], [True, True]
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
            expected = arguments.split(" | ") if stage.observed else []
            return [x.note.split("; ")[-1] for x in actor.done if x.note], expected
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
            return sorted(x.correlation_id for x in actor.done), numbers if stage.observed else []
        case "unsent":
            unsent = [str(x.correlation_id) for x in actor.done if not x.sent]
            return unsent, arguments.split() if stage.observed else []
        case "read":
            known = [x.correlation_id for x in actor.done if x.request_body is not None]
            return known, numbers if stage.observed else []
        case "depends":
            named = [rule for cut in actor.cuts for rule in cut.get("depends", ())]
            return named, arguments.split()
        case "open" | "aborted":
            return actor.aborted, verb == "aborted"
        case "idle":
            return (connection.idle, stage.totals.undecoded), (True, 0)
        case "unread":
            return (connection.idle, stage.totals.undecoded), (True, numbers[0])
        case "sleeps":
            return connection.wake, None
        case "left":
            return [way for way, *_ in actor.left], arguments.split()
        case _:
            return getattr(stage.rules.rules[0], verb), numbers[0]
    return None, None
