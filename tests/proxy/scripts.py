"""Scripts of playbooks: what a client and a broker send, and what has reached each of them when."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from barnabas.specs.frames import Direction
from tests.proxy.frames import (
    Chunks,
    commit_request,
    commit_response,
    groups_request,
    groups_response,
    heartbeat_request,
    heartbeat_response,
    leave_request,
    request,
    response,
    whole,
)
from tests.proxy.playbook import Actor

FRAMES: dict[str, tuple[Callable[[int], bytes], Callable[[int], bytes]]] = {
    "C": (commit_request, commit_response),
    "G": (groups_request, groups_response),
    "H": (heartbeat_request, heartbeat_response),
    "J": (
        lambda number: request("JoinGroup", number, version=2, group_id="g"),
        lambda number: response("JoinGroup", number, version=2),
    ),
    "L": (leave_request, lambda number: response("LeaveGroup", number)),
    "P": (
        lambda number: request("Produce", number, version=9, acks=0, topic_data=[]),
        lambda number: response("Produce", number, version=9),
    ),
}
"""Requests and responses by the letters of a script, see `play`: OffsetCommit, ListGroups, Heartbeat,
JoinGroup, LeaveGroup, Produce with acks=0."""


def play(
    actor: Actor, script: str, chunks: Chunks = whole, rules: Mapping[str, str] | None = None
) -> None:
    """Act out a script. Its steps:

    - `ask H1 C2`, `answer H1 C2`: the client, or the broker, sends these frames at once, see FRAMES.
    - `wait 50`: so many ms pass.
    - `broker 1 2`, `client 1 2`: the correlation ids of all that has reached the one or the other so far.
    - `replace hold late`: the scenario has these `rules`, by their names, from now on; without any,
      nothing waits.
    - `release hold`: what a rule holds is let go.
    - `idle`: nothing waits, and all could be read.
    """
    for step in script.split("; "):
        verb, *words = step.split()
        match verb:
            case "ask" | "answer":
                side = 0 if verb == "ask" else 1
                data = b"".join(FRAMES[word[0]][side](int(word[1:])) for word in words)
                actor.feed("request" if verb == "ask" else "response", data, chunks)
            case "wait":
                actor.stage.wait(float(words[0]))
            case "broker" | "client":
                way: Direction = "request" if verb == "broker" else "response"
                assert actor.ids(way) == [*map(int, words)], step
            case "replace":
                found = "".join(f"- {{name: {word}, {(rules or {})[word]}}}\n" for word in words)
                actor.stage.replace(f"version: 1\nseed: 7\nrules:\n{found or '  []'}")
                if not words:
                    queues = actor.connection.state.queues.values()
                    assert all(queue.idle and not queue.bytes for queue in queues), step
                    assert actor.connection.wake is None, step
            case "release":
                actor.stage.release(words[0])
            case "idle":
                assert actor.connection.idle, script
                assert not actor.stage.totals.undecoded, script
            case _:
                raise AssertionError(step)
