from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from barnabas.proxy.effects import Aside, Shuffle
from barnabas.proxy.matching.match import Until
from barnabas.proxy.matching.seeded_random import seeded_roll
from tests.proxy.faults.given import ALL, Examples, Fate, Play, Row, effect_of, message, requests
from tests.proxy.frames import request
from tests.proxy.playbook import Stage

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
    plays=[
        *(Play(f"a window is gathered over connections of the same {same}", f"{{reverse: 4, same: {same}}}",
               "ask 1; two.ask 2; ask 3; order; two.ask 4; order two.4 3 two.2 1; released 4; "
               "answer 3 1; two.answer 4 2; got 1 3; two.got 2 4; idle; two.idle")
          for same in ("client", "group", "any")),
        Play("the seed decides over connections too", "{shuffle: 5, same: any}",
             "ask 0; two.ask 1; three.ask 2; ask 3; order; two.ask 4; order two.4 three.2 0 two.1 3"),
        Play("other clients have windows of their own", "{reverse: 2, same: client}",
             "ask 1; two.ask Heartbeat2@you; order; wait 5000; sent 1; two.sent Heartbeat2@you"),
        Play("responses too", "{reverse: 2, same: any}",
             "ask 1; two.ask 2; answer 1; two.answer 2; order <two.2 <1",
             match="{api: Heartbeat, direction: response}"),
        Play("a swap counts messages of other connections", "{swap: 2, same: client, at_most: 9s}",
             "ask 1; two.ask LeaveGroup2; three.ask LeaveGroup3; order two.2 three.3 1"),
        Play("a window that does not fill opens in time and in its order",
             "{reverse: 9, same: any, at_most: 3s}",
             "ask 1; wait 1000; two.ask 2; wait 1999; order; wait 1; order two.2 1; sleeps; two.sleeps; "
             "ask 3; wait 2999; order two.2 1; wait 1; order two.2 1 3"),
        *(Play(f"a closed connection's frame counts no longer: {number}", "{reverse: 3, same: any}", script)
          for number, script in enumerate((
            "ask 9; close; two.ask 1; three.ask 2; order; two.ask 3; order two.3 three.2 two.1; "
            "notes request not forwarded: connection closed",
            "open; two.ask 9; two.close; ask 1; three.ask 2; order; ask 3; order 3 three.2 1",
            "open; two.open; three.ask 9; three.close; ask 1; two.ask 2; order; ask 3; order 3 two.2 1",
          ))),
        Play("the control port releases a window", "{reverse: 9, same: any}",
             "ask 1; two.ask 2; release r; order two.2 1"),
        Play("when its rule goes they leave", "{reverse: 3, same: any}",
             "ask 4; two.ask 5; replace; order 4 two.5; full"),
        Play("a client that sends no more is still in its window", "{reverse: 2, same: any}",
             "ask 1; end request; finished; two.ask 2; order two.2 1; finished request"),
        Play("a window begins anew when all that were in it are gone", "{reverse: 9, same: any, at_most: 3s}",
             "ask 1; wait 1000; close; wait 1000; two.ask 2; wait 2999; order; wait 1; order two.2"),
        Play("what comes when its time is up is not in it though the timer is late",
             "{reverse: 2, same: any, at_most: 3s}",
             "ask 1; oversleep 3000; two.ask 2; order 1; wait 3000; order 1 two.2"),
        Play("a delay keeps the order of the window", "[{delay: 1s}, {reorder: {reverse: 2, same: any}}]",
             "ask 1 2; sent; wait 1000; sent 2 1"),
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


WINDOW = "version: 1\nrules: [{name: r, match: {direction: request}, do: {reorder: {reverse: 3, same: any}}}]"


def test_an_open_window_does_not_stop_at_a_connection_that_ends() -> None:
    stage = Stage(WINDOW)
    one, two, three = (stage.actor() for _ in range(3))
    one.ask(requests(1))
    two.ask(requests(2))
    data = memoryview(bytearray(requests(3)))
    three.perform(three.connection.receive("request", data, stage.now), "request", data)
    assert three.ids("request") == [3]
    stage.shared.ready.discard(three.connection.state.number)
    assert stage.shared.ready == {two.connection.state.number}  # and it ends before it is its turn
    two.close()
    assert (one.ids("request"), two.ids("request")) == ([1], [])


def test_what_is_lost_with_its_connection_counts_no_longer() -> None:
    stage = Stage(
        "version: 1\nrules:\n"
        "- {name: r, match: {api: Heartbeat}, do: {reorder: {reverse: 2, same: any}}}\n"
        "- {name: lost, match: {api: LeaveGroup, direction: request}, do: drop}\n"
    )
    one, two = stage.actor(), stage.actor()
    one.ask(requests(1) + request("LeaveGroup", 2, version=0))
    two.ask(requests(3))
    assert two.ids("request") == []
    two.ask(requests(4))
    assert (one.ids("request"), two.ids("request")) == ([], [4, 3])


def test_a_rule_that_stays_goes_on() -> None:
    stage = Stage(WINDOW)
    actors = [stage.actor() for _ in range(3)]
    for number, actor in enumerate(actors):
        if number == 2:
            stage.replace(
                WINDOW.replace("rules: [", "rules: [{name: x, do: drop, when: {skip: 99}}, ")
            )
        assert not any(actor.ids("request") for actor in actors)
        actor.ask(requests(number))
    assert [actor.ids("request") for actor in actors] == [[0], [1], [2]]
