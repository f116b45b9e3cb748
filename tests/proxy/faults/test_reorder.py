from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.proxy.effects import Aside, Shuffle
from barnabas.proxy.matching.match import Until
from barnabas.proxy.matching.seeded_random import seeded_roll
from tests.proxy.faults.given import (
    ALL,
    Examples,
    Fate,
    Row,
    effect_of,
    message,
    requests,
    responses,
)
from tests.proxy.playbook import Actor, Chunks, Stage, request, slicings

SWAPPED, LAST = Fate([2, 1, 3], [2, 3]), Fate([2, 3, 1], [2, 3])
GIVE_ONE = "give one of swap, reverse and shuffle"

EXAMPLES = Examples(
    {"shuffle": 9},
    rows=[
        *(Row(settings, SWAPPED, Fate([2, 1, 3], ALL), Fate(ALL, [2, 1, 3]))
          for settings in ("{swap: 1}", "{swap: 1, same: any}")),
        Row("{swap: 1, restore: false}", SWAPPED, Fate([2, 1, 3], [2, 1, 3]), Fate(ALL, [2, 1, 3])),
        # nothing else is in the window, and its time comes when the others have passed
        *(Row(settings, LAST, Fate([2, 3, 1], ALL), Fate(ALL, [2, 3, 1]))
          for settings in ("{reverse: 2}", "{shuffle: 2, same: client}")),
    ],
    live=[
        "{swap: 1, at_most: 5ms}",
        "{swap: 1, same: client, at_most: 5ms}",
        "{shuffle: 3, same: any, at_most: 5ms}",
        "{shuffle: 2, at_most: 5ms}",
        "{reverse: 2, at_most: 5ms, restore: false}",
    ],
    refused=[("{}", GIVE_ONE), ("{swap: 1, shuffle: 2}", GIVE_ONE)],
    unable=[("{reverse: 2, same: group}", message(), "the message names no group")],
    says=[
        ("{swap: 1}", "across", ""),
        ("{swap: 1, same: any}", "across", "it waits for messages of any client"),
        ("{swap: 1, same: any}", "counts", "any"),
        ("{shuffle: 2, same: any}", "counts", "connection"),
    ],
)  # fmt: skip

S = 1_000_000_000


def test_settings_are_handed_on() -> None:
    assert effect_of("reorder", {"swap": 2}) == Aside(5 * S, passing=2, restore=True)
    effect = effect_of("reorder", {"shuffle": 2, "at_most": "1s", "restore": False})
    assert isinstance(effect, Shuffle)
    assert (effect.at_most, effect.restore) == (S, False)


@given(st.integers(2, 1000), st.integers())
def test_shuffle_is_a_permutation(size: int, seed: int) -> None:
    one, two = (
        effect_of("reorder", {"shuffle": size}, roll=seeded_roll(seed, "r", ())) for _ in range(2)
    )
    assert one == two
    assert sorted(one.order) == list(range(size))


def test_all_orders_come_about_equally_often() -> None:
    found: dict[tuple[int, ...], int] = {}
    for n in range(1200):
        order = effect_of("reorder", {"shuffle": 3}, roll=seeded_roll(7, "r", (n,))).order
        found[order] = found.get(order, 0) + 1
    assert len(found) == 6
    assert all(150 < count < 250 for count in found.values())


def test_among_whose_messages() -> None:
    swap = effect_of("reorder", {"swap": 2, "same": "any"})
    assert swap == Aside(5 * S, Until(direction="request", same="any"), "any", 2)
    subject = message()
    subject.group = "g"
    scopes = {"connection": "", "client": "client me", "group": "group g", "any": "all"}
    for same, scope in scopes.items():
        assert effect_of("reorder", {"reverse": 2, "same": same}, subject).scope == scope


# windows over several connections


def window(do: str, direction: str = "request") -> tuple[Stage, list[tuple[int, int]]]:
    """Connections under such a rule, and what leaves them: (connection, correlation id)."""
    match = f"{{api: Heartbeat, direction: {direction}}}"
    found = Stage(
        f"version: 1\nseed: 7\nrules: [{{name: r, match: {match}, do: {{reorder: {do}}}}}]\n"
    )
    order: list[tuple[int, int]] = []
    for _ in range(3):
        _Noted(found, order, direction)
    return found, order


class _Noted(Actor):
    """A connection that also notes what leaves among what leaves the others."""

    def __init__(self, stage: Stage, order: list[tuple[int, int]], direction: str) -> None:
        super().__init__(stage, len(stage.actors) + 1, 1)
        stage.actors.append(self)
        self._order = order
        self._noted = direction

    def _send(self, direction: Any, data: bytes) -> None:
        super()._send(direction, data)
        if direction == self._noted:
            ids = self.ids(direction)
            mine = sum(number == self.connection.state.number for number, _ in self._order)
            self._order += [(self.connection.state.number, found) for found in ids[mine:]]


@slicings
@pytest.mark.parametrize("same", ["client", "group", "any"])
def test_a_window_is_gathered_over_connections_and_leaves_in_its_order(
    chunks: Chunks, same: str
) -> None:
    found, order = window(f"{{reverse: 4, same: {same}}}")
    one, two, _ = found.actors
    for actor, number in ((one, 1), (two, 2), (one, 3)):
        actor.ask(requests(number), chunks)
    assert order == []
    two.ask(requests(4), chunks)
    assert order == [(2, 4), (1, 3), (2, 2), (1, 1)]
    assert found.rules.rule("r").released == 4
    one.answer(responses(3, 1), chunks)
    two.answer(responses(4, 2), chunks)
    assert (one.ids("response"), two.ids("response")) == ([1, 3], [2, 4])
    assert all(actor.connection.idle for actor in found.actors)


@slicings
def test_shuffled_by_the_seed_over_connections(chunks: Chunks) -> None:
    orders = []
    for _ in range(2):
        found, order = window("{shuffle: 9, same: any}")
        for number in range(9):
            found.actors[number % 3].ask(requests(number), chunks)
        orders.append(order)
    assert orders[0] == orders[1]
    assert sorted(orders[0]) == sorted((number % 3 + 1, number) for number in range(9))
    assert orders[0] != [(number % 3 + 1, number) for number in range(9)]


@slicings
def test_other_clients_and_groups_have_windows_of_their_own(chunks: Chunks) -> None:
    found, order = window("{reverse: 2, same: client}")
    one, two, _ = found.actors
    one.ask(requests(1), chunks)
    two.ask(request("Heartbeat", 2, client="you"), chunks)
    assert order == []
    found.wait(5000)
    assert sorted(order) == [(1, 1), (2, 2)]


@slicings
def test_responses_too(chunks: Chunks) -> None:
    found, order = window("{reverse: 2, same: any}", "response")
    one, two, _ = found.actors
    one.ask(requests(1), chunks)
    two.ask(requests(2), chunks)
    one.answer(responses(1), chunks)
    two.answer(responses(2), chunks)
    assert order == [(2, 2), (1, 1)]


@slicings
def test_a_swap_counts_messages_of_other_connections(chunks: Chunks) -> None:
    found, order = window("{swap: 2, same: client, at_most: 9s}")
    one, two, three = found.actors
    one.ask(requests(1), chunks)
    two.ask(request("LeaveGroup", 2, version=0), chunks)
    three.ask(request("LeaveGroup", 3, version=0), chunks)
    assert order == [(2, 2), (3, 3), (1, 1)]


@slicings
def test_a_window_that_does_not_fill_opens_in_time_and_in_its_order(chunks: Chunks) -> None:
    found, order = window("{reverse: 9, same: any, at_most: 3s}")
    one, two, _ = found.actors
    one.ask(requests(1), chunks)
    found.wait(1000)
    two.ask(requests(2), chunks)
    found.wait(1999)
    assert order == []
    found.wait(1)
    assert order == [(2, 2), (1, 1)]
    assert [actor.connection.wake for actor in found.actors] == [None] * 3
    one.ask(requests(3), chunks)  # a new window
    found.wait(2999)
    assert order == [(2, 2), (1, 1)]
    found.wait(1)
    assert order[2:] == [(1, 3)]


@slicings
@pytest.mark.parametrize("gone", [0, 1, 2])
def test_the_frame_of_a_closed_connection_counts_no_longer(chunks: Chunks, gone: int) -> None:
    found, order = window("{reverse: 3, same: any}")
    found.actors[gone].ask(requests(9), chunks)
    found.actors[gone].close()
    stay = [actor for place, actor in enumerate(found.actors) if place != gone]
    first, second = (actor.connection.state.number for actor in stay)
    stay[0].ask(requests(1), chunks)
    stay[1].ask(requests(2), chunks)
    assert order == []
    stay[0].ask(requests(3), chunks)
    assert order == [(first, 3), (second, 2), (first, 1)]
    assert [done.note for done in found.actors[gone].done] == [
        "request not forwarded: connection closed"
    ]


def test_an_open_window_does_not_stop_at_a_connection_that_ends() -> None:
    found, order = window("{reverse: 3, same: any}")
    one, two, three = found.actors
    one.ask(requests(1))
    two.ask(requests(2))
    data = memoryview(bytearray(requests(3)))
    three.perform(three.connection.receive("request", data, found.now), "request", data)
    assert order == [(3, 3)]
    found.shared.ready.discard(three.connection.state.number)
    assert found.shared.ready == {two.connection.state.number}  # and it ends before it is its turn
    two.close()
    assert order == [(3, 3), (1, 1)]


@slicings
def test_what_is_lost_with_its_connection_counts_no_longer(chunks: Chunks) -> None:
    match = "{api: LeaveGroup, direction: request}"
    found = Stage(
        "version: 1\nrules:\n"
        "- {name: r, match: {api: Heartbeat}, do: {reorder: {reverse: 2, same: any}}}\n"
        f"- {{name: lost, match: {match}, do: drop}}\n"
    )
    one, two = found.actor(), found.actor()
    one.ask(requests(1) + request("LeaveGroup", 2, version=0), chunks)
    two.ask(requests(3), chunks)
    assert two.ids("request") == []
    two.ask(requests(4), chunks)
    assert (one.ids("request"), two.ids("request")) == ([], [4, 3])


@slicings
def test_released_by_the_control_port(chunks: Chunks) -> None:
    found, order = window("{reverse: 9, same: any}")
    one, two, _ = found.actors
    one.ask(requests(1), chunks)
    two.ask(requests(2), chunks)
    found.release("r")
    assert order == [(2, 2), (1, 1)]


def test_a_rule_that_goes_lets_them_leave_and_one_that_stays_goes_on() -> None:
    found, order = window("{reverse: 3, same: any}")
    one, two, three = found.actors
    one.ask(requests(1))
    two.ask(requests(2))
    found.replace(
        found.rules.meta()["scenario"].replace(
            "rules: [", "rules: [{name: x, do: drop, when: {skip: 99}}, "
        )
    )
    assert order == []
    three.ask(requests(3))
    assert order == [(3, 3), (2, 2), (1, 1)]
    one.ask(requests(4))
    two.ask(requests(5))
    found.replace("version: 1\nrules: []\n")
    assert order[3:] == [(1, 4), (2, 5)]
    assert all(actor.connection.state.queues["request"].bytes == 0 for actor in found.actors)


@slicings
def test_a_client_that_sends_no_more_is_still_in_its_window(chunks: Chunks) -> None:
    found, order = window("{reverse: 2, same: any}")
    one, two, _ = found.actors
    one.ask(requests(1), chunks)
    one.end("request")
    assert one.finished == []
    two.ask(requests(2), chunks)
    assert order == [(2, 2), (1, 1)]
    assert one.finished == ["request"]


def test_a_window_begins_anew_when_all_that_were_in_it_are_gone() -> None:
    found, order = window("{reverse: 9, same: any, at_most: 3s}")
    one, two, _ = found.actors
    one.ask(requests(1))
    found.wait(1000)
    one.close()
    found.wait(1000)
    two.ask(requests(2))
    found.wait(2999)
    assert order == []
    found.wait(1)
    assert order == [(2, 2)]


def test_what_comes_when_the_time_of_a_window_is_up_is_not_in_it_though_the_timer_is_late() -> None:
    found, order = window("{reverse: 2, same: any, at_most: 3s}")
    one, two, _ = found.actors
    one.ask(requests(1))
    found.now += 3_000_000_000
    two.ask(requests(2))
    assert order == [(1, 1)]
    found.wait(3000)
    assert order == [(1, 1), (2, 2)]


@slicings
def test_a_delay_keeps_the_order_of_the_window(chunks: Chunks) -> None:
    do = "[{delay: 1s}, {reorder: {reverse: 2, same: any}}]"
    actor = Stage(f"version: 1\nrules: [{{name: r, match: {{api: Heartbeat}}, do: {do}}}]").actor()
    actor.ask(requests(1, 2), chunks)
    assert actor.ids("request") == []
    actor.stage.wait(1000)
    assert actor.ids("request") == [2, 1]
