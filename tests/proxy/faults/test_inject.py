from __future__ import annotations

from tests.proxy.faults.given import ALL, Examples, Fate, Play, Row, requests, responses, stage
from tests.proxy.frames import Chunks, heartbeat_response, request, response, slicings

HEARTBEAT = "api: Heartbeat, version: 1"
EXAMPLES = Examples(
    {"api": "Heartbeat", "version": 0},
    rows=[
        Row(f"{{{HEARTBEAT}}}", Fate([1, *ALL], [2, 3]), Fate([1, *ALL], ALL), Fate(ALL, [1, *ALL])),
        Row(f"{{{HEARTBEAT}, direction: response}}",
            Fate(ALL, ALL), Fate(ALL, [1, *ALL]), Fate(ALL, [1, *ALL])),
    ],
    refused=[
        ("{api: StopReplica, version: 9}", "version: StopReplica has 0 to 4"),
        ("{api: Heartbeat, version: 0, body: {nothing: 1}}", "nothing: no such field"),
        ("{api: Heartbeat, version: 0, direction: request, body: {group_id: 1}}", "a string is expected"),
    ],
    plays=[
        Play("a response that nobody asked for",
             f"{{{HEARTBEAT}, direction: response, correlation_id: 99}}",
             "ask 1; got 99; answer 1; got 99 1", when="{times: 1}"),
    ],
)  # fmt: skip


@slicings
def test_the_broker_gets_it_and_its_answer_is_taken_out(chunks: Chunks) -> None:
    body = "{api: LeaveGroup, version: 0, body: {group_id: g, member_id: m}}"
    actor = stage(f"{{inject: {body}}}", when="{times: 1}")
    actor.ask(requests(1, 2), chunks)
    leave = request("LeaveGroup", 1, version=0, group_id="g", member_id="m")
    assert actor.sent["request"] == requests(1) + leave + requests(2)
    last = heartbeat_response(2, 25)
    actor.answer(responses(1) + response("LeaveGroup", 1, version=0) + last, chunks)
    assert actor.sent["response"] == responses(1) + last
    assert [(x.api, x.correlation_id) for x in actor.done] == [("Heartbeat", 1), ("Heartbeat", 2)]
    assert [comment["edits"] for _, _, comment in actor.left] == [["injected"]]
    assert actor.connection.idle


def test_a_request_without_a_client_id_has_none() -> None:
    actor = stage("{inject: {api: ControlledShutdown, version: 0, body: {broker_id: 3}}}")
    actor.ask(requests(1))
    assert actor.sent["request"] == requests(1) + bytes.fromhex(
        "0000000c 0007 0000 00000001 00000003"
    )
