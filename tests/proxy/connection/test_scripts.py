"""What reaches the broker and the client, and in which order: a script for each case."""

from __future__ import annotations

from typing import Final

import pytest

from tests.proxy.frames import Chunks, slicings
from tests.proxy.playbook import Stage
from tests.proxy.scripts import play

HEARTBEATS: Final = "match: {api: Heartbeat, direction: request}"
ANSWERS: Final = "match: {api: Heartbeat, direction: response}"
COMMITS: Final = "match: {api: OffsetCommit, direction: request}"
UNTIL_JOIN: Final = "do: {hold: {until: {api: JoinGroup, direction: request}, at_most: 1s}}"
DROP_ONE: Final = "when: {times: 1}, do: {drop: {selective: true}}"
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
    "swap_groups": "match: {api: ListGroups, direction: request}, do: {reorder: {swap: 1, at_most: 1s}}",
    "swap_1": f"{HEARTBEATS}, do: {{reorder: {{swap: 1}}}}",
    "swap_2": f"{HEARTBEATS}, when: {{times: 1}}, do: {{reorder: {{swap: 2}}}}",
    "unrestored": f"{HEARTBEATS}, when: {{times: 1}}, do: {{reorder: {{swap: 1, restore: false}}}}",
    "swap_3": f"{HEARTBEATS}, do: {{reorder: {{swap: 3}}}}",
    "halt": f"{HEARTBEATS}, do: breakpoint",
    "halt_commit": f"{COMMITS}, do: breakpoint",
    "reverse_3": f"{HEARTBEATS}, do: {{reorder: {{reverse: 3}}}}",
    "reverse": f"{HEARTBEATS}, do: {{reorder: {{reverse: 2}}}}",
    "reverse_commits": f"{COMMITS}, do: {{reorder: {{reverse: 2}}}}",
    "drop_request": f"{HEARTBEATS}, {DROP_ONE}",
    "drop_response": f"{ANSWERS}, {DROP_ONE}",
    "throttle": f"{HEARTBEATS}, do: {{throttle: {{messages: 1}}}}",
    "other": "match: {api: Fetch}, do: {delay: 1ms}",
}  # fmt: skip

CASES: Final[dict[str, tuple[str, str]]] = {
    # what stands aside comes back where it came from
    "a held one leaves before what came after it": (
        "hold_commit delay_join delay_50ms delay_9s",
        "ask C1 J2 H3; wait 60; broker 2 1; wait 10000; broker 2 1 3",
    ),
    "a hold lasts no longer though what is before it is quick": (
        "delay_500ms hold_commit",
        "ask H1 C2; wait 500; broker 1; wait 499; broker 1; wait 1; broker 1 2",
    ),
    "a held one waits for what is before it": (
        "delay_2s hold_commit",
        "ask H1 C2; wait 1999; broker; wait 1; broker 1 2",
    ),
    "a hold ends before a slow one behind it": (
        "hold_commit delay_9s",
        "ask C1 H2; wait 999; broker; wait 1; broker 1; wait 7999; broker 1; wait 1; broker 1 2",
    ),
    "a held one does not come between the pieces of one behind it": (
        "sliced hold_15ms",
        "ask C1 H2 G3; wait 1000; broker 2 1 3",
    ),
    "a held one steps aside until the other message has passed": (
        "hold_commit",
        "ask C1 H2; broker 2; wait 100; ask J3; broker 2 3 1; answer H2 J3; client; "
        "answer C1; client 1 2 3; idle",
    ),
    "swap lets just that many pass even if they are late": (
        "swap_groups delay_50ms",
        "ask G1 H2 H3; broker; wait 50; broker 2 1 3",
    ),
    "windows of two rules do not mix": ("reverse reverse_commits", "ask H1 C2 H3 C4; broker 3 1 4 2"),
    # the order of responses
    "responses are put into the client's order": (
        "swap_2",
        "ask H0 H1 H2 H3; broker 1 2 0 3; answer H1 H2 H0 H3; client 0 1 2 3; idle",
    ),
    "responses stay in the broker's order": (
        "unrestored",
        "ask H0 H1; broker 1 0; answer H1 H0; client 1 0; idle",
    ),
    "a request without an answer has no turn": (
        "delay_produce hold_commit",
        "ask P1 C2 H3; wait 3000; broker 1 2 3; answer C2 H3; client 2 3; idle",
    ),
    "the proxy replies first": (
        "reply",
        "ask L0 H1 H2; broker 1 2; client 0; answer H1 H2; client 0 1 2; idle",
    ),
    "the proxy replies in between": (
        "reply",
        "ask H0 L1 H2; broker 0 2; client; answer H0; client 0 1; answer H2; client 0 1 2; idle",
    ),
    "the proxy replies last": (
        "reply",
        "ask H0 H1 L2; broker 0 1; client; answer H0 H1; client 0 1 2; idle",
    ),
    "an exchange is taken out by its request": (
        "drop_request",
        "ask H1 H2; broker 2; answer H2; client 2; idle",
    ),
    "an exchange is taken out by its response": (
        "drop_response",
        "ask H1 H2; answer H1 H2; client 2; idle",
    ),
    # rules let go what they hold
    "what waits at a breakpoint is let go with its rule": (
        "halt halt_commit",
        "ask H1 C2 H3; release halt_commit; broker; release halt; broker 1 2 3",
    ),
    "only what waits at its own breakpoint is let go": (
        "halt halt_commit",
        "ask H1 C2; release halt; broker 1; release halt_commit; broker 1 2",
    ),
    "a window is opened as far as it is full": (
        "reverse_3",
        "ask H1 H2; broker; release other; broker; release reverse_3; broker 2 1",
    ),
    "only what its own rule holds is let go": (
        "hold hold_commit",
        "ask H1 C2; release hold; broker 1; release hold_commit; broker 1 2",
    ),
    # rules are replaced
    "what was held leaves before what follows": (
        "hold",
        "ask H1 L2 H3; broker 2; replace; broker 2 1 3; ask H4; broker 2 1 3 4",
    ),
    "what was delayed leaves at once": ("delay_50ms", "ask H1 L2 H3; wait 10; broker; replace; broker 1 2 3"),
    "responses leave at once, too": (
        "delay_answers",
        "ask H1 H2; answer H1 H2; client; replace; client 1 2; idle",
    ),
    "a window that was filling opens in the order of arrival": (
        "swap_3",
        "ask H1 H2; broker; replace; broker 1 2",
    ),
    "frames of all kinds of rules leave in the order of arrival": (
        "hold delay_leave",
        "ask H1 L2 H3 L4; broker; replace; broker 1 2 3 4",
    ),
    "a frame keeps the time that a rule gave it that stays": (
        "delay_50ms hold",
        "ask H1; replace delay_50ms; wait 49; broker; wait 1; broker 1",
    ),
    "a rule that stays is still woken by what it waits for": (
        "hold",
        "ask H1; replace other hold; broker; ask J2; broker 2 1",
    ),
    "a held frame still ends at its deadline": (
        "hold",
        "ask H1; wait 100; replace hold other; wait 899; broker; wait 1; broker 1",
    ),
    "a line of a rule that stays is as busy as it was": (
        "throttle",
        "ask H1 H2; replace throttle other; ask H3; wait 2999; broker 1 2; wait 1; broker 1 2 3",
    ),
    "responses come in order though the rule that mixed the requests is gone": (
        "swap_1 other",
        "ask H1 L2 H3; broker 2 1; replace other; ask H4; broker 2 1 3 4; answer L2 H1 H3 H4; "
        "client 1 2 3 4; idle",
    ),
    "requests under way are answered first when a rule begins to mix": (
        "",
        "ask H1 H2; replace hold; ask H3 L4; broker 1 2 4; answer H1 H2 L4; client 1 2; "
        "wait 5000; answer H3; client 1 2 3 4; idle",
    ),
    "requests that are delayed are expected, too, when a rule begins to mix": (
        "delay_50ms",
        "ask H1; replace delay_50ms hold_leave; ask L2 G3; wait 5000; broker 1 3 2; answer H1 G3; client 1; "
        "answer L2; client 1 2 3; idle",
    ),
    "what a rule that is gone decided of an early response is off": (
        "hold delay_left",
        "ask H1 L2; answer L2; client; replace; answer H1; client 1 2; idle",
    ),
    "a request is not expected twice": (
        "swap_3",
        "ask H1; replace; replace swap_3; answer H1; client 1; idle",
    ),
    "messages that were skimmed meet a rule that is added": (
        "",
        "ask H0; ask H1; replace delay_50ms; ask H2; broker 0 1; wait 50; broker 0 1 2",
    ),
}  # fmt: skip


@slicings
@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_what_reaches_whom_and_when(case: str, observed: bool, chunks: Chunks) -> None:
    names, script = CASES[case]
    actor = Stage(observed=observed).actor()
    play(actor, f"replace {names}".rstrip(), chunks, RULES)
    play(actor, script, chunks, RULES)
