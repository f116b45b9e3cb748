"""What an Envelope holds: a whole request and its response, who sent it, from where."""

from __future__ import annotations

from typing import Any

from barnabas import specs
from barnabas.specs import embedded
from barnabas.specs.embedded.reveal import MAX_DEPTH
from barnabas.specs.frames import Frame
from tests.specs.embedded.real import SUBSCRIPTION

ENVELOPE = 58


def request(key: int, version: int, body: dict[str, Any]) -> Frame:
    header = {"request_api_key": key, "request_api_version": version, "client_id": "c"}
    return Frame("request", key, version, header, body)


JOIN = request(
    11,
    5,
    {
        "group_id": "g",
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": SUBSCRIPTION}],
    },
)


def envelope(frame: Frame, principal: bytes = b"", address: bytes = b"") -> dict[str, Any]:
    return {
        "request_data": specs.encode_frame(frame)[4:],
        "request_principal": principal,
        "client_host_address": address,
    }


def test_an_envelope_holds_a_request_who_sent_it_and_from_where() -> None:
    values = {"type": "User", "name": "alice", "token_authenticated": True}
    principal = embedded.message("DefaultPrincipalData").codec(0).encode(values)
    body = envelope(JOIN, b"\0\0" + principal, b"\x7f\0\0\1")
    found = embedded.reveal(ENVELOPE, "request", body)
    assert found["request_principal"]["values"] == values
    assert found["client_host_address"] == {"text": "127.0.0.1"}
    joins = found["request_data"]
    assert (joins["message"], joins["version"]) == ("JoinGroupRequest", 5)
    assert joins["header"]["client_id"] == "c"
    metadata = joins["inside"]["protocols[0].metadata"]
    assert metadata["values"]["topics"] == ["t"]


def test_a_response_in_an_envelope_takes_its_request() -> None:
    answer = {"protocol_name": "range", "members": [{"metadata": SUBSCRIPTION}]}
    response = Frame("response", 11, 5, {"correlation_id": 1}, answer)
    body = {"response_data": specs.encode_frame(response)[4:]}
    (alone,) = embedded.reveal(ENVELOPE, "response", body).values()
    assert alone["unread"] == "it takes the request that this answers to read it"
    (found,) = embedded.reveal(ENVELOPE, "response", body, request=envelope(JOIN)).values()
    assert (found["message"], found["version"]) == ("JoinGroupResponse", 5)
    assert found["inside"]["members[0].metadata"]["values"]["topics"] == ["t"]


def test_secrets_inside_an_envelope_are_withheld() -> None:
    upsertion = {"name": "alice", "salt": b"pepper", "salted_password": b"hunter2"}
    asked = request(51, 0, {"upsertions": [upsertion]})
    found = embedded.reveal(ENVELOPE, "request", envelope(asked))["request_data"]
    assert found["values"]["upsertions"][0]["salted_password"] == "<redacted 7 bytes>"
    assert "pepper" not in repr(found)
    outer = envelope(request(ENVELOPE, 0, envelope(asked)))
    assert "hunter2" not in repr(embedded.reveal(ENVELOPE, "request", outer))


def test_envelopes_in_envelopes_end_somewhere() -> None:
    body = envelope(JOIN)
    for _ in range(MAX_DEPTH + 2):
        body = envelope(request(ENVELOPE, 0, body))
    found = embedded.reveal(ENVELOPE, "request", body)["request_data"]
    depth = 1
    while "inside" in found:
        found = found["inside"]["request_data"]
        depth += 1
    assert depth == MAX_DEPTH + 1
    assert found["unread"] == f"more than {MAX_DEPTH} messages inside each other"
