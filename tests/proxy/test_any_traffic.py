"""Any message of any API, whole or damaged, in any slicing, under all faults at once."""

from __future__ import annotations

import gzip
import json
import random
import struct

from hypothesis import example, given
from hypothesis import strategies as st

from barnabas.specs.headers import request_header_version, response_header_version
from tests import places
from tests.proxy.frames import bytewise, raw, whole
from tests.proxy.playbook import Actor, Stage

GOLDEN = places.GOLDEN / "golden-a.jsonl.gz"

SCENARIO = """
version: 1
seed: 3
rules:
- {name: delayed, match: {api: [Fetch, Metadata, Heartbeat]}, when: {probability: 0.3},
   do: {delay: {by: 5ms, jitter: 3ms}}}
- {name: held, match: {api: [OffsetCommit, Heartbeat], direction: request}, when: {probability: 0.4},
   do: {hold: {until: {api: JoinGroup, same: group}, at_most: 20ms}}}
- {name: swapped, match: {api: [Produce, SyncGroup]}, when: {probability: 0.4},
   do: {reorder: {swap: 2, at_most: 10ms}}}
- {name: shuffled, match: {api: [ListOffsets, OffsetFetch]}, do: {reorder: {shuffle: 3, at_most: 10ms}}}
- {name: gone, match: {api: [Vote, DescribeGroups]}, when: {probability: 0.3}, do: {drop: {selective: true}}}
- {name: silent, match: {api: AlterConfigs}, when: {probability: 0.1}, do: drop}
- {name: cut, match: {api: DeleteAcls}, when: {probability: 0.1}, do: close}
- {name: read, match: {api: Produce, direction: request}, where: "length(topic_data) > `0`", do: {delay: 1ms}}
"""

Kind = tuple[int, int, str]


def bodies() -> dict[Kind, list[bytes]]:
    found: dict[Kind, list[bytes]] = {}
    with gzip.open(GOLDEN, "rt") as lines:
        for frame in map(json.loads, lines):
            if frame["direction"] in ("request", "response") and len(frame["hex"]) < 4000:
                kind = (frame["key"], frame["version"], frame["direction"])
                found.setdefault(kind, []).append(bytes.fromhex(frame["hex"]))
    return found


BODIES = bodies()
KINDS = sorted({(key, version) for key, version, _ in BODIES})


class Traffic:
    """A client that asks anything and a broker that answers what it got, in order."""

    def __init__(self, choose: random.Random, actor: Actor) -> None:
        self.choose = choose
        self.actor = actor
        self.answered = 0

    def damaged(self, frame: bytes) -> bytes:
        if self.choose.random() > 0.1:
            return frame
        changed = bytearray(frame)
        changed[self.choose.randrange(4, len(changed))] ^= self.choose.randrange(1, 256)
        return bytes(changed)

    def ask(self) -> None:
        key, version = self.choose.choice(KINDS)
        head = struct.pack(">hhi", key, version, self.choose.randrange(50))
        if request_header_version(key, version):
            head += struct.pack(">h", 2) + b"me"
        if request_header_version(key, version) == 2:
            head += b"\0"
        body = self.choose.choice(BODIES[key, version, "request"])
        frame = self.damaged(raw(head + body))
        self.actor.ask(frame, bytewise if len(frame) < 200 else whole)

    def answer(self) -> None:
        asked = self.actor.frames("request")
        if self.answered >= len(asked):
            return
        frame = asked[self.answered]
        self.answered += 1
        if len(frame) < 12:
            return
        key, version, correlation_id = struct.unpack_from(">hhi", frame, 4)
        known = BODIES.get((key, version, "response"), [b"unknown"])
        head = struct.pack(">i", correlation_id)
        if (key, version, "response") in BODIES and response_header_version(key, version):
            head += b"\0"
        answer = self.damaged(raw(head + self.choose.choice(known)))
        self.actor.answer(answer, bytewise if len(answer) < 200 else whole)


@given(st.integers(0, 2**32), st.booleans(), st.booleans())
@example(seed=55184, rules=False, observed=False)  # SaslAuthenticate in version -2816
def test_nothing_breaks_and_nothing_stays_behind(seed: int, rules: bool, observed: bool) -> None:
    choose = random.Random(seed)
    stage = Stage(SCENARIO if rules else "", observed=observed, waiting=choose.choice((3, 10_000)))
    traffic = [Traffic(choose, stage.actor(broker)) for broker in (1, 2)]
    for _ in range(40):
        one = choose.choice(traffic)
        if one.actor.aborted:
            continue
        match choose.randrange(10):
            case 0 | 1 | 2 | 3:
                one.ask()
            case 4 | 5 | 6 | 7:
                one.answer()
            case 8:
                stage.wait(choose.choice((1, 7, 30)))
            case _:
                one.actor.answer(raw(choose.randbytes(choose.choice((0, 1, 3, 3, 3, 30)))))
    for one in traffic:
        actor = one.actor
        if not actor.aborted:
            for direction in ("request", "response"):
                actor.end(direction)
                stage.wait(50)
            assert actor.aborted or actor.finished == ["request", "response"]
        actor.close()
        for queue in actor.connection.state.queues.values():
            assert queue.idle
            assert queue.bytes == 0
        assert not actor.connection.state.pairing.waiting
