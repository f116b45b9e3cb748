from __future__ import annotations

import pytest

from barnabas.proxy.effects import Aside
from barnabas.proxy.matching.match import Until
from tests.proxy.faults.given import ALL, Examples, Fate, Play, Row, effect_of, requests
from tests.proxy.frames import request
from tests.proxy.playbook import Stage

ONE_LATE, BOTH_LATE = Fate([2, 1, 3], ALL), Fate([2, 3, 1], ALL)
ONCE, RESPONSES = "{times: 1, scope: rule}", "{api: Heartbeat, direction: response}"
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
    plays=[
        Play("until so many of its own connection have passed", "{messages: 2}",
             "ask 1 Produce2 3 4; sent Produce2 3 1 4; released 1; wait 0; full", when="{times: 1}"),
        Play("until so many of any connections have passed", "{messages: 2, same: any}",
             "ask 1; two.ask 7; sent; two.ask 2; sent 1; ask 3; sent 1 3; two.sent 7 2; "
             "released 1", when=ONCE),
        Play("a message of its own connection counts once", "{messages: 2, same: any}",
             "ask 1 2; sent 2; ask 3; sent 2 3 1", when=ONCE),
        Play("only messages of its direction count", "{messages: 1, same: any}",
             "ask 1; answer 1; two.ask 2; got; two.answer 2; got 1; two.got 2", when=ONCE, match=RESPONSES),
        Play("until some time has passed, though nothing follows, while what is behind it passes",
             "{time: 2s}",
             "ask 1 2; sent 2; wait 1999; sent 2; end request; sent 2; wait 1; sent 2 1; released 1; "
             "expired 0; finished request", when="{times: 1}"),
        *(Play(f"until somebody says so: {until}", until,
               "ask 1 2; two.ask 3; wait 29999; sent 2; two.sent 3; release other; sent 2; "
               "release r; sent 2 1; released 1; sleeps", when=ONCE)
          for until in ("{control: true}", "{until: {api: JoinGroup}}")),
        *(Play(f"it is bounded: {until}", f"{{{until}, at_most: 5s}}",
               "ask 1; wait 4999; sent; wait 1; sent 1; expired 1; ended 0")
          for until in ("messages: 9", "messages: 9, same: any", "control: true", "until: {api: JoinGroup}")),
        Play("responses come in the order in which the client asked", "{time: 2s}",
             "ask 1 2; answer 2; got; wait 2000; answer 1; got 1 2; idle", when="{times: 1}"),
        Play("answers are put back", "{messages: 1}",
             "ask 1 2; sent 2 1; answer 2 1; got 1 2", when="{times: 1}"),
        Play("unless told", "{messages: 1, restore: false}",
             "ask 1 2; sent 2 1; answer 2 1; got 2 1", when="{times: 1}"),
        Play("when its connection ends what it waits for can not come",
             "{until: {api: JoinGroup, same: connection}}",
             "ask 1; end request; sent 1; released 0; expired 0; ended 1"),
    ],
)  # fmt: skip

S = 1_000_000_000


def test_each_condition_has_its_effect_and_half_a_minute_unless_told() -> None:
    assert effect_of("hold", {"messages": 3}) == Aside(30 * S, passing=3)
    others = Until(direction="request", same="client")
    assert effect_of("hold", {"messages": 3, "same": "client"}) == Aside(
        30 * S, others, "client", 3
    )
    assert effect_of("hold", {"time": "2s", "restore": False}) == Aside(2 * S, restore=False)
    assert effect_of("hold", {"control": True}) == Aside(30 * S, control=True)


@pytest.mark.parametrize(
    ("same", "order"), [("client", [3, 1]), ("group", [3, 1]), ("any", [1, 3])]
)
def test_until_so_many_of_other_connections_have_passed(same: str, order: list[int]) -> None:
    match = "{api: Heartbeat, direction: request}"
    do = f"{{hold: {{messages: 2, same: {same}}}}}"
    stage = Stage(f"version: 1\nrules: [{{name: r, match: {match}, when: {ONCE}, do: {do}}}]")
    one, other, stranger = stage.actor(), stage.actor(), stage.actor()
    one.ask(requests(1))
    stranger.ask(request("Heartbeat", 7, client="you", group_id="h"))
    other.ask(requests(2))
    assert one.ids("request") == ([1] if same == "any" else [])
    one.ask(requests(3))
    assert (one.ids("request"), other.ids("request"), stranger.ids("request")) == (order, [2], [7])
