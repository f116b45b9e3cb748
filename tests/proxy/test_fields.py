"""Some fields of a body are what the whole body has there, whatever the message."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.kafka.expression import expression
from barnabas.proxy.matching.message import Message
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.file import loads
from barnabas.specs import api
from tests.golden.frames import BY_API
from tests.proxy.playbook import one_rule

FRAMES = [frame for frames in BY_API.values() for frame in frames if frame["key"] >= 0]


def message(frame: dict[str, Any], body: bytes) -> Message:
    kind = frame["direction"], frame["key"], frame["version"]
    return Message(*kind, "me", 1, 0, 0, None, len(body), body)


def roots(frame: dict[str, Any]) -> list[str]:
    layout = api(frame["key"]).message(frame["direction"]).layout(frame["version"])
    return [slot.name for slot in layout.slots]


@given(st.sampled_from(FRAMES), st.randoms(use_true_random=False), st.data())
def test_so_are_some_fields_of_a_body_that_is_odd(
    frame: dict[str, Any], choose: random.Random, data: st.DataObject
) -> None:
    """A body that cannot be decoded as a whole has at most some fields, and never raises."""
    body = bytearray.fromhex(frame["hex"])
    for _ in range(data.draw(st.integers(0, 4))):
        at = choose.randrange(len(body) + 1)
        match choose.choice(["flip", "cut", "insert", "tag"]):
            case "flip" if at < len(body):
                body[at] = choose.choice((0, 1, 2, 127, 128, 255, choose.randrange(256)))
            case "cut" if choose.random() < 0.2:
                del body[at:]
            case "insert":
                body[at:at] = choose.randbytes(choose.randrange(4))
    names = choose.sample(roots(frame), min(len(roots(frame)), choose.randrange(1, 4)))
    whole = message(frame, bytes(body)).fields()
    some = message(frame, bytes(body)).fields(*names)
    if whole is not None and names:
        assert repr(some) == repr({n: v for n, v in whole.items() if n in names})


BODY = api("Heartbeat").request.codec(0).encode({"group_id": "g", "member_id": "m"})
HEARTBEAT = Message("request", 12, 0, "me", 1, 0, 0, None, len(BODY), BODY)
CUT_OFF = Message("request", 12, 0, "me", 1, 0, 0, None, len(BODY) - 1, BODY[:-1])


def test_the_same_condition_decides_the_same_whatever_other_rules_look_at() -> None:
    """One rule wants the whole body, which can't be read; the other a field that can."""
    for texts in (["@", "group_id == 'g'"], ["group_id == 'g'", "@"]):
        named = "".join(f'- {{name: "{text}", where: "{text}", do: close}}\n' for text in texts)
        rules = Rules(loads(f"version: 1\nrules:\n{named}"))
        met = {rule.name: rule.meets(CUT_OFF) for rule in rules.rules}
        assert met == {"@": False, "group_id == 'g'": True}


def test_chance_goes_by_fields_that_are_read_alone() -> None:
    (rule,) = Rules(loads(one_rule("close", "{}", "when: {key: [group_id, member_id]}"))).rules
    assert list(rule.key_of(HEARTBEAT)) == ['"g"', '"m"']
    assert expression("group_id").roots == ("group_id",)
    assert list(rule.key_of(CUT_OFF)) == ['"g"', "null"]
