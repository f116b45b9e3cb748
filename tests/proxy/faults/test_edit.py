from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.proxy.faults.given import (
    Examples,
    Row,
    fields_after,
    message,
    produce,
    requests,
    responses,
    stage,
)
from tests.proxy.frames import Chunks, request, response, slicings

RANGE, STICKY = ({"name": "range", "metadata": b"\1"}, {"name": "sticky", "metadata": b"\2"})
JOIN = message(
    "JoinGroup", version=5, group_id="g", protocol_type="consumer", protocols=[RANGE, STICKY]
)
NULL = message("Metadata", version=1, topics=None)
NEW = {"name": "new"}
FIELD, ELEMENT = (f"no such {part} in this message" for part in ("field", "element"))

EXAMPLES = Examples(
    {"set": {"group_id": "other"}},
    rows=[Row("{set: {'PATH': NEW}}")],
    live=["{set: {throttle_time_ms: 5}}"],
    about=("Heartbeat", "response"),
    refused=[
        ("{}", "give set, append or remove"),
        ("{set: {'a..b': 1}}", "'a..b' is not a path"),
        ("{set: {'a[b=c': 1}}", "'a[b=c' is not a path"),
        ("{set: {throttl_time_ms: 1}}", "no field 'throttl_time_ms' in the body of Heartbeat response"),
    ],
    unable=[
        ({"set": {"protocols[2].name": "x"}}, JOIN, f"protocols[2].name: {ELEMENT}"),
        ({"set": {"nothing": 1}}, JOIN, f"nothing: {FIELD}"),
        ({"append": {"group_id": "x"}}, JOIN, "group_id: no such array in this message"),
        ({"append": {"topics": {"name": "t"}}}, NULL, "topics: no such array"),
        ({"append": {"protocols": {"name": 1}}}, JOIN, "protocols[2].name: a string is expected, not 1"),
        ({"remove": ["protocols[9]"]}, JOIN, f"protocols[9]: {ELEMENT}"),
        ({"set": {"group_id": None}}, JOIN, "group_id: null is not allowed"),
        ({"set": {"session_timeout_ms": 2**40}}, JOIN, "is not a valid int32"),
        ({"set": {"protocols[0].metadata": "?"}}, JOIN, "protocols[0].metadata: "),
    ],
    says=[
        ({"set": {"a": 1}, "append": {"b": 2}, "remove": ["c"]}, "paths", ("a", "b", "c")),
        ({"set": {"a": 1}, "append": {"b": 2}}, "field_values",
         ((("set", "a"), "a", 1, False), (("append", "b"), "b", 2, True))),
    ],
)  # fmt: skip


@pytest.mark.parametrize(("settings", "changed"), [
    ({"set": {"protocols[*].name": "x"}}, {"protocols": [RANGE | {"name": "x"}, STICKY | {"name": "x"}]}),
    ({"set": {"protocols[name=sticky].metadata": "/w=="}},
     {"protocols": [RANGE, STICKY | {"metadata": b"\xff"}]}),
    ({"remove": ["protocols[name=range]"]}, {"protocols": [STICKY]}),
    ({"set": {"protocols[-1].metadata": "/w=="}}, {"protocols": [RANGE, STICKY | {"metadata": b"\xff"}]}),
    ({"set": {"group_instance_id": None, "session_timeout_ms": 7}}, {"session_timeout_ms": 7}),
    ({"append": {"protocols": NEW}}, {"protocols": [RANGE, STICKY, NEW | {"metadata": b""}]}),
    ({"remove": ["protocols[0]"]}, {"protocols": [STICKY]}),
    ({"remove": ["protocols[*]"]}, {"protocols": []}),
    ({"remove": ["group_id"]}, {"group_id": ""}),  # the default
])  # fmt: skip
def test_fields_are_set_and_elements_appended_and_removed(settings: Any, changed: Any) -> None:
    assert fields_after("edit", settings, JOIN) == JOIN.values() | changed


@slicings
def test_the_other_side_sees_the_edited_message(chunks: Chunks) -> None:
    actor = stage("{edit: {set: {member_id: you}}}", when="{skip: 1, times: 1}")
    actor.ask(requests(1, 2), chunks)
    body: dict[str, Any] = {"group_id": "g", "generation_id": 1, "member_id": "you"}
    assert actor.sent["request"] == requests(1) + request("Heartbeat", 2, **body)
    actor.answer(responses(1, 2), chunks)
    first, second = actor.done
    assert (first.request or {})["member_id"] == (second.request or {})["member_id"] == "m"
    assert second.rules == ("r",)
    (changed,) = [comment for comment in actor.cuts if "edits" in comment]
    assert (changed["edits"], changed["left"]) == (["edit member_id=you"], "changed")


def test_what_was_done_is_said() -> None:
    do = "{edit: {append: {topics: {name: a}}, remove: ['topics[0]']}}"
    actor = stage(do, "{api: Metadata, direction: request}")
    actor.ask(request("Metadata", 1, topics=[{"name": "t"}]))
    assert actor.sent["request"] == request("Metadata", 1, topics=[{"name": "a"}])
    (changed,) = [comment for comment in actor.cuts if "edits" in comment]
    assert changed["edits"] == ["edit topics+, topics[0]-"]


@slicings
@pytest.mark.parametrize(("before", "after"), [(0, 1), (1, 0)])
def test_who_is_answered_is_who_waits(chunks: Chunks, before: int, after: int) -> None:
    """An answer that the client does not wait for is taken out; nobody waits for one that does not come."""
    actor = stage(f"{{edit: {{set: {{acks: {after}}}}}}}", "{api: Produce}")
    actor.ask(produce(1, acks=before) + requests(2), chunks)
    assert actor.sent["request"] == produce(1, acks=after) + requests(2)
    answer = response("Produce", 1, version=7) if after else b""
    actor.answer(answer + responses(2), chunks)
    assert actor.sent["response"] == responses(2)
    if after:
        told = [(x.api, x.note) for x in actor.done]
        assert told == [("Produce", "no response (acks=0)"), ("Heartbeat", "")]
    assert actor.connection.idle
    assert not actor.connection.state.replies
    assert actor.stage.totals.undecoded == 0


def test_a_topic_chosen_by_name_is_edited_once_its_id_is_known() -> None:
    do = "{edit: {set: {'responses[topic=orders].partitions[*].error_code': 6}}}"
    actor = stage(do, "{api: Fetch, direction: response}")
    topic = uuid.UUID(int=7)

    def fetched(number: int, code: int) -> bytes:
        partitions = [{"partition_index": 0, "error_code": code}]
        topics = [{"topic_id": topic, "partitions": partitions}]
        return response("Fetch", number, version=13, responses=topics)

    def passed(number: int) -> bytes:
        actor.ask(request("Fetch", number, version=13))
        actor.answer(fetched(number, 0))
        return bytes(actor.sent["response"])

    assert passed(1) == fetched(1, 0)
    assert len(actor.stage.shared.unresolved) == 1
    actor.stage.shared.topics[topic] = "orders"
    assert passed(2) == fetched(1, 0) + fetched(2, 6)
