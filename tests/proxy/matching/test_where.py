from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.expression import MAX_DEPTH, Unclear, expression
from barnabas.proxy.matching.match import Match
from barnabas.proxy.matching.where import check

COMMIT = {"api": "OffsetCommit", "direction": "request"}
FIELDS: dict[str, Any] = {
    "group_id": "orders",
    "generation": 0,
    "empty": "",
    "none": None,
    "topics": [{"name": "a", "partitions": [{"partition_index": 3}]}],
}


@pytest.mark.parametrize(("text", "holds"), [
    ("group_id == 'orders'", True),
    ("group_id == 'other'", False),
    ("generation", True),  # JMESPath: 0 is true
    ("empty", False),
    ("none", False),
    ("missing", False),
    ("topics", True),
    ("topics[?name=='b']", False),
    ("topics[?name=='a'].partitions[].partition_index | contains(@, `3`)", True),
    ("!group_id", False),
    ("`{}`", False),
    ("`false`", False),
    ("group_id == `orders`", True),  # JMESPath's old way to write text
    ("starts_with(group_id, 'or') && generation < `1`", True),
])  # fmt: skip
def test_truth(text: str, holds: bool) -> None:
    assert expression(text).holds(FIELDS) is holds


@pytest.mark.parametrize("text", ["length(generation)", "contains(group_id, `1`)", "nope(@)"])
def test_what_cannot_be_decided_says_so_in_one_line(text: str) -> None:
    with pytest.raises(Unclear) as caught:
        expression(text).holds(FIELDS)
    assert str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "a ==", "a b", "[?", "a.", "(", "(" * 5000, "foo[1:2:0:4]"])  # fmt: skip  # noqa: E501
def test_what_does_not_compile_says_so_in_one_line(text: str) -> None:
    with pytest.raises(ValueError) as caught:
        expression(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", [
    "group_id == 'a'",
    "generation_id_or_member_epoch > `3`",  # only from v1
    "retention_time_ms",  # only v2 to v4
    "topics[0].name",
    "topics[-1].topic_id",  # only v10
    "topics[*].partitions[*].partition_index",
    "topics[].partitions[].committed_offset | [0]",
    "topics[1:].name",
    "topics[?name=='a' && partitions[?committed_offset > `5`]].partitions[0]",
    "topics[].{n: name, p: partitions[].partition_index}",
    "topics[].[name, topic_id][0]",
    "sort_by(topics, &name)[0].partitions",
    "max_by(topics[].partitions[], &committed_offset).committed_metadata",
    "map(&partitions, topics)[].partition_index",
    "length(topics[?starts_with(name, 'a')]) > `1`",
    "@.group_id",
    "*.anything",
    "_tags.whatever",
    "topics[]._tags.\"7\"",
    "not_null(group_id, member_id).anything",
    "`{\"a\": 1}`.b",
    "keys(@)",
    "group_id || member_id",
    "topics[].name | [?@=='a'] | length(@)",
])  # fmt: skip
def test_fields_that_some_version_has_are_accepted(text: str) -> None:
    assert check(expression(text), Match.model_validate(COMMIT)) == []


@pytest.mark.parametrize(("text", "names"), [
    ("groupid", ["'groupid'", "'group_id'"]),
    ("topics[0].nme", ["'topics.nme'", "'name'"]),
    ("topics[*].partitions[*].indx", ["'topics.partitions.indx'", "'partition_index'"]),
    ("topics[].partitions[].indx", ["'topics.partitions.indx'"]),
    ("topics[?nme=='a']", ["'topics.nme'"]),
    ("topics[?name=='a'].partition", ["'topics.partition'", "'partitions'"]),
    ("topics | [0].nme", ["'topics.nme'"]),
    ("topics[].[name, nme]", ["'topics.nme'"]),
    ("topics[].{n: nme}", ["'topics.nme'"]),
    ("length(topcs)", ["'topcs'", "'topics'"]),
    ("sort_by(topics, &nme)", ["'topics.nme'"]),
    ("max_by(topics, &name).nme", ["'topics.nme'"]),
    ("map(&partitions, topics)[].nme", ["'topics.partitions.nme'"]),
    ("!group", ["'group'"]),
    ("group_id && grp", ["'grp'"]),
    ("topics.name", ["topics[].name"]),
    ("group_id.x", ["'group_id' is a string"]),
    ("join(',')", ["join() takes 2 arguments, not 1"]),
    ("not_null()", ["not_null() takes 1 or more argument"]),
    ("lengt(topics)", ["'length'"]),
    ("lengt(topics).name", ["'length'"]),
    ("sort_by(topics, &name)[0].nme", ["'topics.nme'"]),
    ("reverse(topics)[0].nme", ["'topics.nme'"]),
])  # fmt: skip
def test_fields_that_no_version_has_are_named(text: str, names: list[str]) -> None:
    (problem,) = check(expression(text), Match.model_validate(COMMIT))
    for name in names:
        assert name in problem


def test_a_chain_as_long_as_may_be_is_checked() -> None:
    condition = expression(" || ".join(["group_id"] * MAX_DEPTH))
    assert check(condition, Match.model_validate(COMMIT)) == []
    assert condition.holds(FIELDS)


def test_the_direction_counts() -> None:
    condition = expression("topics[].partitions[].error_code")
    assert check(condition, Match.model_validate(COMMIT))
    assert not check(condition, Match.model_validate({"api": "OffsetCommit"}))


def test_any_of_the_apis_may_have_it() -> None:
    assert not check(expression("session_id"), Match.model_validate({"api": ("Fetch", "Produce")}))
    assert check(expression("session_id"), Match.model_validate({"api": "Produce"}))


def test_without_an_api_any_api_may_have_it() -> None:
    assert not check(expression("forgotten_topics_data"), Match())
    (problem,) = check(expression("forgotten_topic_data"), Match())
    assert "did you mean 'forgotten_topics_data'" in problem


@pytest.mark.parametrize(("text", "roots"), [
    ("acks == `1`", ("acks",)),
    ("group_id == 'a' && !member_id", ("group_id", "member_id")),
    ("topics[?name=='a'].partitions[] | length(@) > `3`", ("topics",)),
    ("length(topics) > `2` || contains(topics[].name, group_id)", ("group_id", "topics")),
    ("max_by(topics, &length(partitions)).name", ("topics",)),
    ("[acks, {a: timeout_ms}]", ("acks", "timeout_ms")),
    ("@", None),
    ("_tags", None),
    ("*", None),
    ("keys(@)", None),
    ("acks || length(@)", None),
])  # fmt: skip
def test_the_fields_that_must_be_decoded(text: str, roots: tuple[str, ...] | None) -> None:
    assert expression(text).roots == roots


@pytest.mark.parametrize(("match", "text", "fine"), [
    ({"api": "Fetch", "version": "13+", "direction": "request"}, "topics[?topic=='a']", True),
    ({"api": "Fetch", "version": "15+", "direction": "request"}, "topics[?topic=='a']", True),
    ({"api": "Produce", "version": 13, "direction": "request"}, "topic_data[?name=='a']", True),
    ({"api": "OffsetFetch", "version": 10}, "groups[].topics[?name=='a']", True),
    ({"api": "Fetch", "version": "13+", "direction": "request"}, "topics[?name=='a']", False),
    ({"api": "ShareFetch", "direction": "request"}, "topics[?topic=='a']", False),
])  # fmt: skip
def test_names_that_are_put_back_beside_ids_exist(
    match: dict[str, Any], text: str, fine: bool
) -> None:
    assert (check(expression(text), Match.model_validate(match)) == []) is fine
