"""Reports of several proxies together, against that of one that saw all."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.summary.api_stats import ApiStats
from barnabas.captures.writing.block_sink import Stats
from barnabas.captures.writing.writer import CaptureState
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.control.history import History
from barnabas.proxy.control.metrics import exposition
from barnabas.proxy.control.views import status
from barnabas.proxy.edits.topology import Node
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.report import Report, ended, merged, report
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.rules.outcome import outcome
from barnabas.proxy.rules.rule import Counts
from tests.proxy.rules.test_rules import HEARTBEAT, decide, heartbeat_message, rules

RULES = (
    "match: {api: Heartbeat}, where: \"group_id == 'g'\", do: {delay: 1ms}",
    "match: {api: Heartbeat}, do: {delay: 1ms}",
    "match: {api: Fetch}, do: {hold: {until: {api: JoinGroup}}}",
)
MESSAGES = heartbeat_message("g"), heartbeat_message("h"), replace(HEARTBEAT, body=b"\xff")

EVENTS = st.one_of(
    st.tuples(st.just("exchange"), st.integers(-1, 5), st.none() | st.integers(0, 10**11)),
    st.tuples(st.just("error"), st.integers(-1, 5), st.sampled_from(["", "A", "B"])),
    st.tuples(st.just("message"), st.sampled_from(MESSAGES), st.none()),
    st.tuples(st.just("closed"), st.integers(0, 1000), st.integers(0, 1000)),
    st.tuples(st.just("total"), st.sampled_from(["unreachable", "undecoded", "lost"]), st.none()),
)


class Half:
    """A proxy that is not started, and what happens to it."""

    def __init__(self) -> None:
        self.proxy = Proxy(Options([("127.0.0.1", 1)]), rules(*RULES))

    def meet(self, kind: str, what: Any, more: Any) -> None:
        proxy = self.proxy
        match kind:
            case "exchange":
                proxy.tally.note(what, more)
            case "error":
                proxy.tally.error(what, more)
            case "message":
                decide(proxy.rules, what, Counts())
            case "closed":
                proxy.received[0] += what
                proxy.received[1] += more
            case "total":
                setattr(proxy.totals, what, getattr(proxy.totals, what) + 1)


def shown(found: Report) -> tuple[Any, ...]:
    """Return the content of a report, independent of the order."""
    json = status(found, Options([("127.0.0.1", 1)]), ("127.0.0.1", 1), History())
    del json["undecided"]  # of causes that are equally frequent it names the first one first
    return json, sorted(exposition(found, History()).splitlines()), found.rules, found.totals


@given(st.lists(st.tuples(st.integers(0, 1), EVENTS)))
def test_two_halves_of_a_traffic_are_the_whole(events: list[tuple[int, Any]]) -> None:
    whole, idle, halves = Half(), Half(), (Half(), Half())
    for place, event in events:
        halves[place].meet(*event)
        whole.meet(*event)
    parts = [pickle.loads(pickle.dumps(report(half.proxy))) for half in halves]
    assert shown(merged(report(idle.proxy), parts)) == shown(report(whole.proxy))


def row(number: int, request: int = 0, response: int = 0) -> dict[str, Any]:
    ways = {"request": {"received_bytes": request}, "response": {"received_bytes": response}}
    return {"connection": number, **ways}


def test_what_is_one_for_all_is_as_the_first_says_and_the_rest_is_put_together() -> None:
    node = Node("broker", 1, ("a", 1), ("b", 2))
    capture = CaptureState("c.pcapng", Stats(packets=1))
    first = Report(draining=True, nodes=(node,), capture=capture)
    one = Report(nodes=(node, node), connections=(row(1), row(4)), missing_names=2)
    other = Report(connections=(row(2), row(3)), missing_names=1, observed=True, trouble="why")
    found = merged(first, [one, other, Report(trouble="why else")])
    assert (found.draining, found.nodes, found.capture) == (True, (node,), capture)
    assert [each["connection"] for each in found.connections] == [1, 2, 3, 4]
    assert (found.missing_names, found.observed, found.trouble) == (3, True, "why")


def test_only_rules_that_the_first_has_count_and_what_struck_is_kept() -> None:
    made = rules("do: close", "do: close")
    for _ in range(3):
        decide(made, HEARTBEAT, Counts())
    own, gone = map(outcome, made.rules)
    worker = Report(rules=(gone, own), struck=Counter(close=3, delay=0))
    found = merged(Report(rules=(replace(own, matched=0, fired=0),)), [worker, worker])
    assert [(each.name, each.matched) for each in found.rules] == [("r0", 6)]
    assert found.struck == Counter(close=6)
    assert "delay" in found.struck, "it is shown, as 0"


def test_of_a_process_that_ended_its_counts_remain() -> None:
    tally, struck = ApiStats(), Counter(close=1)
    (rule,) = map(outcome, rules("do: close").rules)
    last = Report(
        *(tally, Totals(3), (10, 20)),
        observed=True,
        connections=(row(1, 1, 2), row(2, 3, 4)),
        rules=(rule,),
        struck=struck,
        missing_names=1,
        trouble="why",
    )
    assert ended(last) == Report(tally, Totals(3), (14, 26), rules=(rule,), struck=struck)
    assert ended(Report()).received == (0, 0)
