"""What reaches the broker and the client, and in which order: a script for each case."""

from __future__ import annotations

from typing import Final

import pytest

from tests.proxy.frames import Chunks, slicings
from tests.proxy.playbook import Stage
from tests.proxy.scripts import play, scenario

HEARTBEATS: Final = "match: {api: Heartbeat, direction: request}"
ANSWERS: Final = "match: {api: Heartbeat, direction: response}"
GROUPS: Final = "match: {api: ListGroups, direction: request}"
COMMITS: Final = "match: {api: OffsetCommit, direction: request}"
UNTIL_JOIN: Final = "do: {hold: {until: {api: JoinGroup, direction: request}, at_most: 1s}}"
UNTIL_BEAT: Final = (
    "do: {hold: {until: {api: Heartbeat, direction: request, same: any}, at_most: 9s}}"
)
RULES: Final = {
    "delay_50ms": f"{HEARTBEATS}, do: {{delay: 50ms}}",
    "delay_500ms": f"{HEARTBEATS}, do: {{delay: 500ms}}",
    "delay_2s": f"{HEARTBEATS}, do: {{delay: 2s}}",
    "delay_9s": f"{HEARTBEATS}, do: {{delay: 9s}}",
    "delay_join": "match: {api: JoinGroup, direction: request}, do: {delay: 50ms}",
    "delay_produce": "match: {api: Produce, direction: request}, do: {delay: 2s}",
    "delay_leave": "match: {api: LeaveGroup, direction: request}, do: {delay: 50ms}",
    "delay_left": "match: {api: LeaveGroup, direction: response}, do: {delay: 1s}",
    "delay_answers": f"{ANSWERS}, do: {{delay: 1s}}",
    "hold_commit": f"{COMMITS}, {UNTIL_JOIN}",
    "hold": f"{HEARTBEATS}, {UNTIL_JOIN}",
    "hold_leave": f"match: {{api: LeaveGroup, direction: request}}, {UNTIL_JOIN}",
    "reply": "match: {api: LeaveGroup}, do: {respond: {error: UNKNOWN_MEMBER_ID}}",
    "sliced": f"{HEARTBEATS}, do: {{slice: {{size: 10B, every: 10ms}}}}",
    "hold_15ms": f"{COMMITS}, do: {{hold: {{until: {{api: JoinGroup}}, at_most: 15ms}}}}",
    "swap_groups": f"{GROUPS}, do: {{reorder: {{swap: 1, at_most: 1s}}}}",
    "swap_1": f"{HEARTBEATS}, do: {{reorder: {{swap: 1}}}}",
    "swap_2": f"{HEARTBEATS}, when: {{times: 1}}, do: {{reorder: {{swap: 2}}}}",
    "swap_3": f"{HEARTBEATS}, do: {{reorder: {{swap: 3}}}}",
    "halt": f"{HEARTBEATS}, do: breakpoint",
    "halt_commit": f"{COMMITS}, do: breakpoint",
    "reverse_3": f"{HEARTBEATS}, do: {{reorder: {{reverse: 3}}}}",
    "reverse": f"{HEARTBEATS}, do: {{reorder: {{reverse: 2}}}}",
    "reverse_commits": f"{COMMITS}, do: {{reorder: {{reverse: 2}}}}",
    "throttle": f"{HEARTBEATS}, do: {{throttle: {{messages: 1}}}}",
    "other": "match: {api: Fetch}, do: {delay: 1ms}",
    "delay_100ms": f"{HEARTBEATS}, do: {{delay: 100ms}}",
    "delay_100ms_back": f"{ANSWERS}, do: {{delay: 100ms}}",
    "delay_sasl": "match: {api: SaslHandshake, direction: request}, do: {delay: 10ms}",
    "drop_groups_back": "match: {api: ListGroups, direction: response}, do: drop",
    "late_close": f"{HEARTBEATS}, do: [{{delay: 50ms}}, {{close: {{forward: true}}}}]",
    "drop": f"{HEARTBEATS}, do: drop",
    "drop_groups": f"{GROUPS}, do: drop",
    "drop_join": "match: {api: JoinGroup, direction: request}, do: drop",
    "hold_any": f"{HEARTBEATS}, do: {{hold: {{until: {{api: JoinGroup, direction: request, same: any}}}}}}",
    "hold_you": f"{HEARTBEATS}, do: {{hold: {{until: {{api: JoinGroup, client_id: you, same: any}}}}}}",
    "hold_beat": f"{HEARTBEATS}, {UNTIL_BEAT}",
    "hold_leave_any": f"match: {{api: LeaveGroup}}, {UNTIL_BEAT}",
    "hold_groups": f"{GROUPS}, do: {{hold: {{messages: 1}}}}",
    "halt_once": f"{HEARTBEATS}, when: {{times: 1}}, do: breakpoint",
    "halt_twice": f"{HEARTBEATS}, do: [breakpoint, duplicate]",
    "gather": f"{HEARTBEATS}, do: {{coalesce: {{count: 2, at_most: 9s}}}}",
    "halt_produce": "match: {api: Produce, direction: request}, do: breakpoint",
}  # fmt: skip

CASES: Final[dict[str, tuple[str, str]]] = {
    # what stands aside comes back where it came from
    "a held one leaves before what came after it": (
        "hold_commit delay_join delay_50ms delay_9s",
        "ask C1 J2 3; wait 60; sent J2 C1; wait 10000; sent J2 C1 3",
    ),
    "a hold lasts no longer though what is before it is quick": (
        "delay_500ms hold_commit",
        "ask 1 C2; wait 500; sent 1; wait 499; sent 1; wait 1; sent 1 C2",
    ),
    "a held one waits for what is before it": (
        "delay_2s hold_commit",
        "ask 1 C2; wait 1999; sent; wait 1; sent 1 C2",
    ),
    "a hold ends before a slow one behind it": (
        "hold_commit delay_9s",
        "ask C1 2; wait 999; sent; wait 1; sent C1; wait 7999; sent C1; wait 1; sent C1 2",
    ),
    "a held one does not come between the pieces of one behind it": (
        "sliced hold_15ms",
        "ask C1 2 G3; wait 1000; sent 2 C1 G3",
    ),
    "a held one steps aside until the other message has passed": (
        "hold_commit",
        "ask C1 2; sent 2; wait 100; ask J3; sent 2 J3 C1; answer 2 J3; got; answer C1; got C1 2 "
        "J3; idle",
    ),
    "swap lets just that many pass even if they are late": (
        "swap_groups delay_50ms",
        "ask G1 2 3; sent; wait 50; sent 2 G1 3",
    ),
    "windows of two rules do not mix": ("reverse reverse_commits", "ask 1 C2 3 C4; sent 3 1 C4 C2"),
    # the order of responses
    "responses are put into the client's order": (
        "swap_2",
        "ask 0 1 2 3; sent 1 2 0 3; answer 1 2 0 3; got 0 1 2 3; idle",
    ),
    "a request without an answer has no turn": (
        "delay_produce hold_commit",
        "ask P1/0 C2 3; wait 3000; sent P1/0 C2 3; answer C2 3; got C2 3; idle",
    ),
    "the proxy replies in between": (
        "reply",
        "ask 0 L1 2; sent 0 2; got; answer 0; got 0 L1!25; answer 2; got 0 L1!25 2; idle; unsent 1",
    ),
    "its own reply waits for requests that are delayed": (
        "delay_100ms reply",
        "ask 1 L2 G3; got; wait 100; sent 1 G3; answer 1 G3; got 1 L2!25 G3; idle",
    ),
    # what can't be read keeps its place, and is lost behind what is lost
    **{
        f"a request that can't be read stays behind a delayed one: {odd}": (
            "delay_100ms",
            f"ask 1 {odd} G3; sent; wait 100; sent 1 {odd} G3; answer 1 nonsense G3; told 0 1 3; "
            "read 1 3; unread 1",
        )
        for odd in ("unreadable", "cut-off", "empty")
    },
    **{
        f"a response that can't be read stays behind a delayed one: {odd}": (
            "delay_100ms_back",
            f"ask 1 G2; answer 1 {odd} G2; got; wait 100; got 1 {odd} G2; unread 1",
        )
        for odd in ("short", "empty")
    },
    "a raw token stays behind a delayed handshake": (
        "delay_sasl",
        "ask SaslHandshake1 token; sent; wait 10; sent SaslHandshake1 token",
    ),
    **{
        f"what comes behind a dropped request is lost: {odd}": (
            "drop_groups",
            f"ask 1 G2 {odd}; answer 1; sent 1; got 1; unread {unread}; "
            f"notes request dropped by a rule | request lost after a dropped one",
        )
        for odd, unread in (("unreadable", 1), ("cut-off", 1), ("newer", 0))
    },
    **{
        f"what comes behind a dropped response is lost: {odd}": (
            "drop_groups_back",
            f"ask 1 G2; answer 1 G2 {odd}; got 1",
        )
        for odd in ("short", "99")
    },
    # losses and ends
    "what was delayed before a dropped request still leaves": (
        "delay_100ms drop_groups",
        "ask 1 G2 3; wait 50; ask Metadata4; wait 200; at 100; sent 1; answer 1; "
        "notes request dropped by a rule | request lost after a dropped one | "
        "request lost after a dropped one; end request; finished request",
    ),
    "what is held when another is dropped would leave behind it": (
        "hold_commit drop_groups",
        "ask C1 G2; wait 2000; sent; notes request dropped by a rule | request lost after a "
        "dropped one",
    ),
    "no reply of its own follows the broker's end": (
        "reply",
        "end response; finished response; ask L1; got; close; told 1",
    ),
    "a half that is closed stays half": (
        "",
        "ask 1 2; end request; finished request; answer 1 2; end response; "
        "finished request response; got 1 2",
    ),
    # other connections
    "one message releases all that wait for it": (
        "hold_any",
        "ask 1 2; two.ask 1 2; three.ask 1 2; sent; two.sent; three.sent; four.ask J7; "
        "sent 1 2; two.sent 1 2; three.sent 1 2; released 6; depends hold_any hold_any",
    ),
    "a message of another client than the rule wants releases nobody": (
        "hold_you",
        "ask 1; two.ask J7; sent; two.ask JoinGroup8@you; sent 1",
    ),
    "a message does not release itself but the next one of its kind does": (
        "hold_beat",
        "ask 1; two.ask 2; sent; two.sent; wait 9000; sent 1; two.sent 2",
    ),
    "a connection that is over is forgotten": (
        "hold_any",
        "ask 1; two.ask 1; close; two.ask J7; sent; two.sent J7 1",
    ),
    "a message that is lost releases nobody": ("hold_any drop_join", "ask 1; two.ask J7; sent"),
    # somebody decides
    "an id is never used again": (
        "halt",
        "ask 0; halted 1.1; decide 1.1; ask 1; halted 1.2; decide 1.2; two.ask 1; halted 2.1",
    ),
    "a produce with acks=0 is taken out where it would be answered": (
        "halt_produce",
        "ask P1/0 2; decide 1.1 {respond: {error: NOT_LEADER_OR_FOLLOWER}}; answer 2; sent 2; got 2; idle",
    ),
    "acks that are taken away leave the client without an answer": (
        "halt_produce",
        "ask P1 2; decide 1.1 {edit: {set: {acks: 0}}}; answer 2; sent P1/0 2; got 2; idle",
    ),
    "for the answer to a request that is dropped nobody waits": (
        "hold_groups halt_once",
        "ask G1 2 3; decide 1.1 {drop: {selective: true}}; sent 3 G1; answer 3 G1; got G1 3; idle",
    ),
    "a reset ends the connection": ("halt", "ask 1 2; decide 1.1 reset; aborted; close; told 1 2; sent"),
    "a close ends the connection": ("halt", "ask 1 2; decide 1.1 close; aborted; close; told 1 2; sent"),
    "other effects of its rule stay": ("halt_twice", "ask 1; decide 1.1; sent 1 1"),
    # rules let go what they hold
    "what waits at a breakpoint is let go with its rule": (
        "halt halt_commit",
        "ask 1 C2 3; release halt_commit; sent; release halt; sent 1 C2 3",
    ),
    "a window is opened as far as it is full": (
        "reverse_3",
        "ask 1 2; sent; release other; sent; release reverse_3; sent 2 1",
    ),
    # rules are replaced
    "what was held leaves before what follows": (
        "hold",
        "ask 1 L2 3; sent L2; replace; sent L2 1 3; ask 4; sent L2 1 3 4",
    ),
    "what was delayed leaves at once": ("delay_50ms", "ask 1 L2 3; wait 10; sent; replace; sent 1 L2 3"),
    "responses leave at once, too": (
        "delay_answers",
        "ask 1 2; answer 1 2; got; replace; got 1 2; idle",
    ),
    "frames of all kinds of rules leave in the order of arrival": (
        "hold delay_leave",
        "ask 1 L2 3 L4; sent; replace; sent 1 L2 3 L4",
    ),
    "a connection that a rule was to close behind a frame stays": (
        "late_close",
        "ask 1; replace; sent 1; open",
    ),
    "behind a dropped message nothing leaves though its rule is gone": (
        "drop",
        "ask 1; replace; ask L2; sent; "
        "notes request dropped by a rule | request lost after a dropped one",
    ),
    "what waited on another connection leaves too": (
        "hold hold_leave_any",
        "two.ask L1; ask 2; sent; two.sent; replace hold_leave_any; sent 2; two.sent L1; released 1",
    ),
    "a frame keeps the time that a rule gave it that stays": (
        "delay_50ms hold",
        "ask 1; replace delay_50ms; wait 49; sent; wait 1; sent 1",
    ),
    "a rule that stays is still woken by what it waits for": (
        "hold",
        "ask 1; replace other hold; sent; ask J2; sent J2 1",
    ),
    "a held frame still ends at its deadline": (
        "hold",
        "ask 1; wait 100; replace hold other; wait 899; sent; wait 1; sent 1",
    ),
    "a line of a rule that stays is as busy as it was": (
        "throttle",
        "ask 1 2; replace throttle other; ask 3; wait 2999; sent 1 2; wait 1; sent 1 2 3",
    ),
    "what is gathered waits on under a rule that stays": (
        "gather",
        "ask 1; replace gather other; sent; ask 2; sent 1 2",
    ),
    "responses come in order though the rule that mixed the requests is gone": (
        "swap_1 other",
        "ask 1 L2 3; sent L2 1; replace other; ask 4; sent L2 1 3 4; answer L2 1 3 4; got 1 L2 3 "
        "4; idle",
    ),
    "requests under way are answered first when a rule begins to mix": (
        "",
        "ask 1 2; replace hold; ask 3 L4; sent 1 2 L4; answer 1 2 L4; got 1 2; wait 5000; answer "
        "3; got 1 2 3 L4; idle",
    ),
    "requests that are delayed are expected, too, when a rule begins to mix": (
        "delay_50ms",
        "ask 1; replace delay_50ms hold_leave; ask L2 G3; wait 5000; sent 1 G3 L2; answer 1 G3; "
        "got 1; answer L2; got 1 L2 G3; idle",
    ),
    "what a rule that is gone decided of an early response is off": (
        "hold delay_left",
        "ask 1 L2; answer L2; got; replace; answer 1; got 1 L2; idle",
    ),
    "a request is not expected twice": (
        "swap_3",
        "ask 1; replace; replace swap_3; answer 1; got 1; idle",
    ),
    "messages that were skimmed meet a rule that is added": (
        "",
        "ask 0; ask 1; replace delay_50ms; ask 2; sent 0 1; wait 50; sent 0 1 2",
    ),
}  # fmt: skip


@slicings
@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_what_reaches_whom_and_when(case: str, observed: bool, chunks: Chunks) -> None:
    names, script = CASES[case]
    play(Stage(scenario(names, RULES), observed=observed), script, chunks, RULES)
