from __future__ import annotations

import pytest

from barnabas.proxy.effects import Aside
from barnabas.proxy.matching.match import Same, Until
from tests.proxy.faults.given import (
    ALL,
    Examples,
    Fate,
    Row,
    effect_of,
    produce,
    requests,
    responses,
    stage,
)
from tests.proxy.playbook import Chunks, Stage, request, slicings

ONE_LATE, BOTH_LATE = Fate([2, 1, 3], ALL), Fate([2, 3, 1], ALL)
GIVE_ONE = "give one of until, messages, time and control"

EXAMPLES = Examples(
    {"until": {"api": "JoinGroup"}},
    rows=[
        *(Row(settings, Fate([2, 1, 3], [2, 3]), ONE_LATE, Fate(ALL, [2, 1, 3]))
          for settings in ("{messages: 1}", "{messages: 1, same: client}")),
        *(Row(settings, Fate([2, 3, 1], [2, 3]), BOTH_LATE, Fate(ALL, [2, 3, 1]))
          for settings in ("{time: 1s}", "{control: true}", "{until: {api: JoinGroup}}")),
    ],
    live=[
        "{until: {api: Produce, direction: request}, at_most: 5ms}",
        "{messages: 2, same: any, at_most: 5ms}",
        "{time: 3ms}",
        "{control: true, at_most: 5ms}",
    ],
    refused=[
        ("{}", GIVE_ONE),
        ("{time: 1s, messages: 3}", GIVE_ONE),
        ("{until: {}, same: any}", "same goes with messages; until has its own: until: {same: client}"),
        ("{time: 1m}", "time is longer than at_most: give a longer at_most"),
    ],
    says=[
        ("{time: 1s}", "across", ""),
        ("{messages: 1}", "across", ""),
        ("{until: {api: Fetch}}", "across", ""),
        ("{messages: 1, same: client}", "across", "it waits for messages of the same client"),
        ("{until: {same: group}}", "across", "it waits for messages of the same group"),
        ("{until: {same: any}}", "across", "it waits for messages of any client"),
        ("{messages: 1, same: any}", "counts", "any"),
        ("{until: {same: any}}", "counts", "connection"),
    ],
)  # fmt: skip

S = 1_000_000_000


@pytest.mark.parametrize("same", ["connection", "client", "group", "any"])
def test_it_says_where_the_other_one_must_pass(same: Same) -> None:
    until = Until.model_validate({"same": same})
    effect = effect_of("hold", {"until": {"same": same}, "at_most": "5s"})
    assert effect == Aside(5 * S, until=until, same=same)
    assert until.key_matches("response", 3, 0)


def test_each_condition_has_its_effect_and_half_a_minute_unless_told() -> None:
    assert effect_of("hold", {"messages": 3}) == Aside(30 * S, passing=3)
    others = Until(direction="request", same="client")
    assert effect_of("hold", {"messages": 3, "same": "client"}) == Aside(
        30 * S, others, "client", 3
    )
    assert effect_of("hold", {"time": "2s", "restore": False}) == Aside(2 * S, restore=False)
    assert effect_of("hold", {"control": True}) == Aside(30 * S, control=True)


# playbooks

ONCE = "[{name: r, match: {api: Heartbeat, direction: %s}, when: {times: 1, scope: rule}, do: {hold: %s}}]"


def connections(do: str, direction: str = "request") -> Stage:
    return Stage(f"version: 1\nrules: {ONCE % (direction, do)}\n")


@slicings
def test_until_so_many_of_its_own_connection_have_passed(chunks: Chunks) -> None:
    actor = stage("{hold: {messages: 2}}", when="{times: 1}")
    actor.ask(requests(1) + produce(2) + requests(3, 4), chunks)
    assert actor.ids("request") == [2, 3, 1, 4]
    assert actor.stage.rules.rule("r").released == 1
    assert actor.connection.state.queues["request"].idle


@slicings
@pytest.mark.parametrize("same", ["client", "group", "any"])
def test_until_so_many_of_other_connections_have_passed(chunks: Chunks, same: str) -> None:
    found = connections(f"{{messages: 2, same: {same}}}")
    one, other, stranger = found.actor(), found.actor(), found.actor()
    one.ask(requests(1), chunks)
    stranger.ask(request("Heartbeat", 7, client="you", group_id="h"), chunks)
    counted = same == "any"
    other.ask(requests(2), chunks)
    assert one.ids("request") == ([1] if counted else [])
    one.ask(requests(3), chunks)
    assert one.ids("request") == ([1, 3] if counted else [3, 1])
    assert (other.ids("request"), stranger.ids("request")) == ([2], [7])
    assert found.rules.rule("r").released == 1


@slicings
def test_a_message_of_its_own_connection_counts_once(chunks: Chunks) -> None:
    actor = connections("{messages: 2, same: any}").actor()
    actor.ask(requests(1, 2), chunks)
    assert actor.ids("request") == [2]
    actor.ask(requests(3), chunks)
    assert actor.ids("request") == [2, 3, 1]


@slicings
def test_only_messages_of_its_direction_count(chunks: Chunks) -> None:
    found = connections("{messages: 1, same: any}", "response")
    one, other = found.actor(), found.actor()
    one.ask(requests(1), chunks)
    one.answer(responses(1), chunks)
    other.ask(requests(2), chunks)
    assert one.ids("response") == []
    other.answer(responses(2), chunks)
    assert (one.ids("response"), other.ids("response")) == ([1], [2])


@slicings
def test_until_some_time_has_passed_while_what_is_behind_it_passes(chunks: Chunks) -> None:
    actor = stage("{hold: {time: 2s}}", when="{times: 1}")
    actor.ask(requests(1, 2), chunks)
    actor.stage.wait(1999)
    assert actor.ids("request") == [2]
    actor.end("request")
    assert actor.ids("request") == [2]  # it keeps its time, though nothing follows
    actor.stage.wait(1)
    assert actor.ids("request") == [2, 1]
    rule = actor.stage.rules.rule("r")
    assert (rule.released, rule.expired) == (1, 0)
    assert actor.finished == ["request"]


@slicings
@pytest.mark.parametrize("do", ["{control: true}", "{until: {api: JoinGroup}}"])
def test_until_somebody_says_so(chunks: Chunks, do: str) -> None:
    found = connections(do)
    one, other = found.actor(), found.actor()
    one.ask(requests(1, 2), chunks)
    other.ask(requests(3), chunks)
    found.wait(29_999)
    assert (one.ids("request"), other.ids("request")) == ([2], [3])
    found.release("other")
    assert one.ids("request") == [2]
    found.release("r")
    assert one.ids("request") == [2, 1]
    assert found.rules.rule("r").released == 1
    assert one.connection.wake is None


@pytest.mark.parametrize(
    "until", ["messages: 9", "messages: 9, same: any", "control: true", "until: {api: JoinGroup}"]
)
def test_each_is_bounded(until: str) -> None:
    actor = stage(f"{{hold: {{{until}, at_most: 5s}}}}")
    actor.ask(requests(1))
    actor.stage.wait(4999)
    assert actor.ids("request") == []
    actor.stage.wait(1)
    assert actor.ids("request") == [1]
    assert actor.stage.rules.rule("r").expired == 1


@slicings
def test_responses_come_in_the_order_in_which_the_client_asked(chunks: Chunks) -> None:
    actor = stage("{hold: {time: 2s}}", when="{times: 1}")
    actor.ask(requests(1, 2), chunks)
    actor.answer(responses(2), chunks)
    assert actor.ids("response") == []
    actor.stage.wait(2000)
    actor.answer(responses(1), chunks)
    assert actor.ids("response") == [1, 2]
    assert actor.connection.idle


@slicings
@pytest.mark.parametrize(("put_back", "order"), [("", [1, 2]), (", restore: false", [2, 1])])
def test_answers_are_put_back_unless_told(chunks: Chunks, put_back: str, order: list[int]) -> None:
    actor = stage(f"{{hold: {{messages: 1{put_back}}}}}", when="{times: 1}")
    actor.ask(requests(1, 2), chunks)
    assert actor.ids("request") == [2, 1]
    actor.answer(responses(2, 1), chunks)
    assert actor.ids("response") == order


def test_when_its_connection_ends_what_it_waits_for_can_not_come() -> None:
    actor = stage("{hold: {until: {api: JoinGroup, same: connection}}}")
    actor.ask(requests(1))
    actor.end("request")
    assert actor.ids("request") == [1]
    rule = actor.stage.rules.rule("r")
    assert (rule.released, rule.expired, rule.ended) == (0, 0, 1)
