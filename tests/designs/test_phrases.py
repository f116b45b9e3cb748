"""What the log says of the designs that never shipped: a line for each API of both."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.log_line import details
from barnabas.specs.dialects import dialect, dialects
from barnabas.specs.dialects.keys import own_key
from barnabas.specs.registry import api
from tests.designs import messages
from tests.designs.messages import REGISTER, committed_rows, offset_info

CENTRAL, REWRITE = "central-coordination", "rewrite-0.8.2"
UUID = "64359a9a-18f9-4ee1-b8ed-fccd80ef2a1b"
OFFSETS = offset_info(("t", "0", 167), ("t", "1", -1), ("u", "0-1", 5))
ID = {"consumer_id": f"g-{UUID}"}
MEMBER = messages.MEMBER | ID | {"group_generation_id": 2}
JOIN = messages.JOIN | {"topics": ["t", "u"]}
OWNS = [{"topic": "t", "partitions": [0, 1, 2]}]
JOINED = messages.JOINED | ID | {"group_generation_id": 3, "assigned_partitions": OWNS}
BROKERS = [{"id": n, "host": "h", "port": 1} for n in (1, 2, 3)]

Body = dict[str, Any] | None


def exchange(name: str, which: str, request: Body, response: Body, note: str = "") -> Exchange:
    spoken = dialect(name)
    declared = spoken.api(which)
    sent = None if request is None else declared.request.codec(declared.version).encode(request)
    came = (
        None if response is None else declared.responses[0].codec(declared.version).encode(response)
    )
    key = own_key(spoken, declared)
    return Exchange(
        *(0, 1, "a:1", "c1", 1, key, declared.version, 1, 10),
        request_body=sent,
        response_body=b"" if note else came,
        note=note,
    )


LINES: tuple[tuple[str, str, Body, Body, str], ...] = (
    (
        *(CENTRAL, "ClusterMetadata", {}),
        {"coordinator_id": 2, "brokers_info": BROKERS},
        "→ 3 brokers, coordinator 2",
    ),
    (
        *(CENTRAL, "ClusterMetadata", {}),
        {"coordinator_id": -1, "brokers_info": BROKERS[:1]},
        "→ 1 broker, no coordinator",
    ),
    (CENTRAL, "RegisterConsumer", REGISTER, {}, 'g {"t": 1} session 3000 ms'),
    (
        *(CENTRAL, "RegisterConsumer", REGISTER | {"auto_commit": False}, None),
        'g {"t": 1} session 3000 ms without auto commit',
    ),
    (CENTRAL, "Ping", {}, {}, ""),
    (CENTRAL, "StopFetcher", {}, OFFSETS, "→ t[0=167,1=-] u[0-1=5]"),
    (CENTRAL, "StopFetcher", {}, {"offset_info": []}, "→ no offsets"),
    (CENTRAL, "StartFetcher", OFFSETS, {}, "t[0=167,1=-] u[0-1=5]"),
    (CENTRAL, "StartFetcher", {"offset_info": []}, {}, "nothing"),
    (
        *(REWRITE, "ConsumerMetadata", {"group_id": "g"}),
        {"error_code": 0, "node_id": 2, "host": "h", "port": 1},
        "g → coordinator 2",
    ),
    (
        *(REWRITE, "ConsumerMetadata", {"group_id": "g"}),
        {"error_code": -1, "node_id": -1, "host": "", "port": -1},
        "g",
    ),
    (REWRITE, "JoinGroup", JOIN, None, "g new consumer t u range"),
    (REWRITE, "JoinGroup", JOIN, JOINED, "g consumer 64359a9a t u range → generation 3 t[0-2]"),
    (REWRITE, "Heartbeat", MEMBER, {"error_code": 0}, "g generation 2 consumer 64359a9a"),
    (
        *(REWRITE, "LeaveGroup", {"group_id": "g", "consumer_id": f"g-{UUID}"}),
        {"error_code": 0},
        "g consumer 64359a9a",
    ),
    (
        *(REWRITE, "OffsetCommit", MEMBER | {"topics": [committed_rows("t", 5, 7)]}, None),
        "g generation 2 consumer 64359a9a t[0=5,1=7]",
    ),
)


NAMELESS = [line for line in LINES if line[2] and "group_id" in line[2]]


ROWS = {
    own_key(each, each.api(name)): row for each in dialects() for name, row in each.phrases.items()
}


@pytest.mark.parametrize(("name", "which", "request_", "response", "expected"), LINES)
def test_lines(name: str, which: str, request_: Body, response: Body, expected: str) -> None:
    assert details(exchange(name, which, request_, response)) == expected


@pytest.mark.parametrize(("name", "which", "request_", "response", "expected"), NAMELESS)
def test_a_group_with_an_empty_name_is_seen(
    name: str, which: str, request_: Body, response: Body, expected: str
) -> None:
    nameless = (request_ or {}) | {"group_id": ""}
    found = details(exchange(name, which, nameless, response))
    assert found == "''" + expected.removeprefix("g")


def test_every_api_of_both_designs_has_a_line_here() -> None:
    assert {own_key(dialect(name), dialect(name).api(which)) for name, which, *_ in LINES} == {
        own_key(each, one) for each in dialects() if each.phrases for one in each.apis
    }


@pytest.mark.parametrize(("group", "said"), [("g", "g"), ("", "''")])
@pytest.mark.parametrize("which", ["Ping", "StopFetcher", "StartFetcher"])
def test_what_a_coordinator_asks_is_of_the_group_that_registered_on_the_connection(
    which: str, group: str, said: str
) -> None:
    context = Context()
    body = OFFSETS if which == "StartFetcher" else {}
    asked = exchange(CENTRAL, which, body, None)
    before = details(asked, context)
    context.learn(exchange(CENTRAL, "RegisterConsumer", REGISTER | {"group_id": group}, {}))
    assert details(asked, context) == f"{before} of {said}".strip()


@pytest.mark.parametrize("which", ["ClusterMetadata", "StopFetcher"])
def test_behind_an_error_in_the_header_stands_nothing(which: str) -> None:
    assert details(exchange(CENTRAL, which, {}, None, note="Unknown")) == ""


@example(own_key(dialect(CENTRAL), dialect(CENTRAL).api("RegisterConsumer")), b"", b"")
@given(st.sampled_from(sorted(ROWS)), st.binary(max_size=60), st.binary(max_size=60))
def test_bytes_of_any_kind_have_words(key: int, request: bytes, response: bytes) -> None:
    one = Exchange(
        *(0, 1, "a:1", None, 1, key, api(key).versions[0], 1, 10),
        request_body=request,
        response_body=response,
    )
    assert details(one).isprintable()
