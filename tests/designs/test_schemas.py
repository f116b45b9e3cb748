"""Every API of every draft: layouts that work both ways, marks of what is reconstructed, errors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.specs.dialects import Dialect, DialectApi, dialect, dialects
from barnabas.specs.layout import Layout, Node
from barnabas.specs.message import Message

APIS = [
    pytest.param(item, api, id=f"{item.name}-{api.name}")
    for item in dialects()
    for api in item.apis
]
MESSAGES = [
    pytest.param(message, message.versions[0], id=f"{item.name}-{message.name}")
    for item in dialects()
    for message in (
        item.request_header,
        item.response_header,
        *(header for _, header in item.own_response_headers),
        *(message for api in item.apis for message in api.messages),
    )
]

INTEGERS = {"int16": 15, "int32": 31, "int64": 63}


def value_of(node: Node) -> st.SearchStrategy[Any]:
    match node.kind:
        case "bool":
            return st.booleans()
        case "string":
            text = st.text(max_size=5)
            return st.none() | text if node.nullable else text
        case "array":
            assert node.element is not None
            return st.lists(value_of(node.element), max_size=3)
        case "struct":
            assert node.struct is not None
            return values_of(node.struct)
    bits = INTEGERS[node.kind]
    return st.integers(-(1 << bits), (1 << bits) - 1)


def values_of(layout: Layout) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({slot.name: value_of(slot.node) for slot in layout.slots})


def plain(value: Any) -> Any:
    """What construct gives, as plain dicts and lists."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


@pytest.mark.slow("a property of every message and version")
@pytest.mark.parametrize(("message", "version"), MESSAGES)
@given(data=st.data())
def test_any_values_come_back_and_construct_agrees(
    message: Message, version: int, data: st.DataObject
) -> None:
    codec, reference = message.codec(version), message.at(version)
    values = data.draw(values_of(codec.layout))
    body = codec.encode(values)
    assert codec.inspect(body) == (values, [])
    assert codec.decode(body) == values
    assert reference.build(values) == body
    assert plain(reference.parse(body)) == values


@pytest.mark.parametrize(
    ("name", "meant"),
    [("rewrite-x", "rewrite-"), ("central", "central-coordination"), ("0.8.2", "rewrite-0.8.2")],
)
def test_an_unknown_draft_is_a_lookup_error_with_the_nearest(name: str, meant: str) -> None:
    with pytest.raises(LookupError, match=rf"no dialect is called '{name}'; did you mean '{meant}"):
        dialect(name)


def test_an_unknown_api_is_a_lookup_error_with_the_nearest() -> None:
    with pytest.raises(
        LookupError, match=r"no API of rewrite-a is called .*did you mean 'JoinGroup'\?"
    ):
        dialect("rewrite-a").api("JoinGroop")
    with pytest.raises(LookupError, match="no API of rewrite-a has key 12; the keys are 10, 11, 8"):
        dialect("rewrite-a").api(12)


@pytest.mark.parametrize(("item", "api"), APIS)
def test_every_mark_is_of_something_there_is_and_has_a_reason(
    item: Dialect, api: DialectApi
) -> None:
    for mark in api.reconstructed:
        side, _, path = mark.partition(".")
        assert side in ("key", "version", "request", "response")
        if path:
            message = api.request if side == "request" else api.responses[0]
            assert path in {slot.name for slot in message.layout(api.version).slots}
    if set(api.reconstructed) - {"key", "version"}:
        assert api.because
    elif api.reconstructed:
        assert api.because or item.because
    assert api.source


def test_a_mark_covers_what_is_inside_and_nothing_beside() -> None:
    api = dialect("rewrite-a").api("OffsetCommit")
    assert api.is_reconstructed("request.offsets.partition")
    assert not api.is_reconstructed("request.offset")
    assert not api.is_reconstructed("request.offsets_of_others")
    assert not api.is_reconstructed("request")
    central = dialect("central-coordination").api("ClusterMetadata")
    assert not central.is_reconstructed("response.brokers_info.host")
    assert not central.is_reconstructed("response.brokers_info")


def test_only_central_coordinators_ask_consumers() -> None:
    asked = {item.name: [api.name for api in item.asked_by("coordinator")] for item in dialects()}
    assert asked.pop("central-coordination") == ["Ping", "StopFetcher", "StartFetcher"]
    assert not any(asked.values())
    central = dialect("central-coordination")
    assert [api.name for api in central.asked_by("consumer")] == [
        "ClusterMetadata",
        "RegisterConsumer",
    ]
    assert {api.answerer for api in central.asked_by("coordinator")} == {"consumer"}
    finders = [api.name for item in dialects() for api in item.apis if api.answerer == "broker"]
    assert finders == ["ClusterMetadata", "FindCoordinator", *["ConsumerMetadata"] * 3]
