"""What each check says of a rule, and of which rules it says nothing."""

from __future__ import annotations

import pytest

from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.lint.notes import advice, remarks, warnings
from barnabas.proxy.scenario.model import RuleConfig

NEVER = "warning: rule 'r' never fires: "
NOTHING = "warning: rule 'r' does nothing with "
BY_HAND = "warning: rule 'r' fires only by `barnabas ctl rule fire`: its probability is 0"
IN_VAIN = "warning: rule 'r' waits until its time is up for a message that never comes: "
COSTS = "note: rule 'r' decodes "
DEPENDS = "note: rule 'r' is not reproducible live, deterministic in rehearse "
AGAIN = "note: rule 'r': times counts per connection: after "
CHANCE = "note: rule 'r': whether it fires depends on the order in which a client opens connections"
ONE_WAY = "note: rule 'r': respond applies to requests, and the rule counts both directions; "
ORDER = "note: rule 'r': drop with selective drops one response only"
CAUTION = "note: rule 'r': "
REFUSE = "do: {respond: {error: NOT_LEADER_OR_FOLLOWER}}"
RACK = "match: {api: Fetch, direction: request, version: 3}"


def found(*rules: str) -> list[str]:
    """All that is said of rules; the last is `r`."""
    names = [*(f"r{number}" for number in range(len(rules) - 1)), "r"]
    listed = "".join(
        f"- {{name: {name}, {rule}}}\n" for name, rule in zip(names, rules, strict=True)
    )
    scenario = loads(f"version: 1\nrules:\n{listed}")
    return [*remarks(scenario), *advice(scenario)]


@pytest.mark.parametrize(("rule", "line", "reason"), [
    ("match: {api: Fetch, acks: all}, do: close", NEVER, "only Produce requests have acks"),
    ("match: {direction: request, error: 3}, do: close", NEVER, "no request has an error code"),
    ("match: {api: LeaderAndIsr, group: g}, do: close", NEVER, "no LeaderAndIsr message names a group"),
    ("match: {api: Heartbeat, topic: t}, do: close", NEVER, "no Heartbeat message names a topic"),
    (f"{RACK}, where: rack_id == 'a', do: close", NEVER,
     "no field 'rack_id' in the body of Fetch request v3"),
    (f"{RACK}, do: {{edit: {{set: {{rack_id: a}}}}}}", NEVER,
     "edit: no field 'rack_id' in the body of Fetch request v3"),
    ("match: {version: 200}, do: close", NEVER, "close does not apply to any message v200"),
    ("match: {direction: request}, do: {quota: 1s}", NEVER, "quota applies to responses"),
    ("match: {api: Fetch}, do: {clamp: {versions: {Fetch: 1}}}", NEVER,
     "clamp applies to ApiVersions responses"),
    ("match: {api: Fetch}, do: {steer: {leader: 1}}", NEVER,
     "steer applies to Metadata responses and FindCoordinator responses"),
    ("match: {api: SaslHandshake}, do: {quota: 1s}", NEVER, "quota does not apply to SaslHandshake"),
    (f"match: {{api: Heartbeat, direction: response}}, {REFUSE}", NEVER, "respond applies to requests"),
    ("match: {api: Heartbeat}, do: {respond: {error: 6, only: {topic: t, partition: 1}}}", NEVER,
     "only: no Heartbeat message has entries with topic and partition that get errors of their own"),
    ("match: {api: EndTxn, version: 2+, direction: request}, do: {respond: {error: 90, after: true}}",
     CAUTION,
     "respond with after: Kafka reports PRODUCER_FENCED only if it has not done the work"),
    ("match: {api: EndTxn, direction: request}, do: {respond: {error: PRODUCER_FENCED}}", CAUTION,
     "EndTxn v0-1 has no PRODUCER_FENCED: match version: 2+"),
    ("match: {acks: all, error: 3}, do: close", NEVER, "no message has acks and error at once"),
    ("match: {api: [Produce, JoinGroup], topic: t, group: g}, do: close", NEVER,
     "no message has group and topic at once"),
    ("match: {size: {at_least: 2kB, at_most: 1kB}}, do: close", NEVER,
     "size: at_least (2000) is more than at_most (1000)"),
    ("when: {after: {time: 10s}, until: {time: 5s}}, do: close", NEVER, "`until` is not later than `after`"),
    ("when: {after: {rule: r}}, do: close", NEVER, "it waits for its own firing"),
    ("when: {probability: 0}, do: close", BY_HAND, ""),
    ("when: {phases: [{lasts: 1s, probability: 0}]}, do: close", BY_HAND, ""),
    ("do: {delay: 0s}", NOTHING, "delay: by is 0"),
    ("do: {skew: 10us}", NOTHING, "skew: by in whole ms is 0"),
    ("do: {stall: 0s}", NOTHING, "stall: time is 0"),
    ("do: {isolate: 0s}", NOTHING, "isolate: lasts is 0"),
    ("do: {hold: {until: {api: Heartbeat, topic: t}}}", IN_VAIN, "no Heartbeat message names a topic"),
    ("do: {hold: {until: {direction: request, error: 3}}}", IN_VAIN, "no request has an error code"),
    ("match: {api: Fetch}, do: {hold: {until: {api: JoinGroup, same: group}}}", IN_VAIN,
     "no group is named by the messages held"),
    ("match: {api: JoinGroup}, do: {hold: {until: {api: Fetch, same: group}}}", IN_VAIN,
     "by the messages waited for: Fetch message"),
    ("match: {broker: 1}, do: {hold: {until: {broker: 2}}}", IN_VAIN, "have no broker in common"),
    ("match: {connection: 0}, do: {hold: {until: {connection: [1, 2]}}}", IN_VAIN,
     "have no connection in common"),
    ("match: {api: Fetch, direction: request}, where: '@', do: close", COSTS,
     "the whole body of each Fetch request"),
    ("where: '`1`', do: close", COSTS, "the whole body of each"),
    ('match: {api: Produce, direction: request}, where: "topic_data[].name && acks == 1", do: close', COSTS,
     "all topic_data of each Produce request"),
    ("match: {api: Fetch}, where: 'length(responses) && topics && session_id', do: close", COSTS,
     "all responses and topics of each Fetch message"),
    ("do: {throttle: {bytes: 1MB, per: broker}}", DEPENDS, "(throttle: connections share a rate per broker)"),
    ("do: {hold: {until: {same: any}}}", DEPENDS, "(hold: it waits for messages of any client)"),
    ("do: {hold: {messages: 3, same: client}}", DEPENDS, "(hold: it waits for messages of the same client)"),
    ("do: {reorder: {swap: 3, same: group}}", DEPENDS, "(reorder: it waits for messages of the same group)"),
    ("do: {isolate: 1s}", DEPENDS, "(isolate: it acts on all connections)"),
    ("when: {scope: rule}, do: close", DEPENDS, "(scope: rule counts the matches of all connections)"),
    ("when: {after: {rule: r0}}, do: close", DEPENDS,
     "(it depends on what rule 'r0' did on other connections)"),
    ("when: {until: {rule: r0}}, do: close", DEPENDS,
     "(it depends on what rule 'r0' did on other connections)"),
    *((f"when: {{times: 1}}, do: {do}", AGAIN,
       f"{do.strip('{}').partition(':')[0]} the client reconnects, and the rule fires again")
      for do in ("blackhole", "close", "drop", "half_close", "lose_reply", "reset", "{truncate: 10B}")),
    ("when: {probability: 0.5}, do: close", CHANCE, ""),
    ("when: {phases: [{lasts: 1s, probability: 0.5}, {lasts: 1s}]}, do: close", CHANCE, ""),
    ("when: {probability: 0.5, phases: [{lasts: 1s}, {lasts: 1s, probability: 0}]}, do: close", CHANCE, ""),
    (f"match: {{api: Produce}}, {REFUSE}", ONE_WAY, "with direction: request, it counts those alone"),
    ("do: {drop: {selective: true}}", ORDER, "CorrelationIdMismatchException"),
    ("do: {drop: {selective: true}}", ORDER,
     "use drop without selective, or lose_reply; for an error response respond"),
])  # fmt: skip
def test_it_is_said_once(rule: str, line: str, reason: str) -> None:
    (said,) = [each for each in found("do: {delay: 1s}", rule) if each.startswith(line)]
    assert reason in said


@pytest.mark.parametrize(("line", "rule"), [
    (NEVER, "do: close"),
    (NEVER, "do: refuse"),
    (NEVER, "match: {acks: 0}, do: close"),
    (NEVER, "match: {error: 3}, do: close"),
    (NEVER, "match: {api: Heartbeat, direction: response, group: g}, do: close"),
    (NEVER, "match: {api: Fetch, direction: request}, where: rack_id == 'a', do: close"),
    (NEVER, "match: {api: Metadata}, do: {steer: {leader: 1}}"),
    (NEVER, "match: {api: Fetch, version: 13+, topic: t}, do: close"),  # by the names of ids
    (NEVER, "match: {api: Heartbeat}, do: {respond: {error: 27}}"),
    (NEVER, "match: {api: Metadata}, do: {respond: {error: 5, only: {topic: t, partition: 1}}}"),
    (NEVER, "do: {respond: {error: 6, only: {partition: 1}}}"),
    (CAUTION, "match: {api: EndTxn, version: 2+, direction: request}, do: {respond: {error: 90}}"),
    (CAUTION, "match: {api: Produce, direction: request}, do: {respond: {error: 7, after: true}}"),
    (CAUTION, "match: {api: Produce}, do: {respond: {error: 6, only: {partition: 1}}}"),
    (ONE_WAY, "match: {api: Fetch}, do: {respond: {error: 6, only: {partition: 1}}}"),
    (NEVER, "match: {direction: response}, do: {respond: {body: {}}}"),
    (NEVER, "match: {api: OffsetCommit, group: g, topic: t}, when: {until: {time: 5s}}, do: close"),
    (NEVER, "do: {hold: {until: {api: JoinGroup, same: group}}}"),
    (NOTHING, "do: {delay: {by: 0s, jitter: 5ms}}"),
    (NOTHING, "do: {skew: -1ns}"),
    (BY_HAND, "when: {phases: [{lasts: 1s, probability: 0}, {lasts: 1s}]}, do: close"),
    (IN_VAIN, "match: {broker: 1}, do: {hold: {until: {broker: 2, same: client}}}"),
    (COSTS, "match: {api: Fetch}, do: close"),
    (COSTS, "match: {api: Fetch}, where: 'max_wait_ms > 5 && session_id', do: close"),
    (COSTS,
     "match: {api: Produce, direction: request}, where: \"acks == 1 && transactional_id != 'a'\", do: close"),
    (DEPENDS, "do: {throttle: {bytes: 1MB}}"),
    (DEPENDS, "do: {hold: {until: {api: Fetch}}}"),
    (DEPENDS, "do: {hold: {messages: 3}}"),
    (DEPENDS, "do: {reorder: {swap: 3}}"),
    (DEPENDS, "when: {after: {time: 1s}, skip: 3}, do: close"),
    (AGAIN, "do: close"),
    (AGAIN, "when: {times: 1, scope: rule}, do: close"),
    (AGAIN, "when: {times: 1}, do: {delay: 1ms}"),
    (AGAIN, "match: {connection: 0}, when: {times: 1}, do: close"),
    (CHANCE, "when: {probability: 0}, do: close"),
    (CHANCE, "when: {phases: [{lasts: 1s}, {lasts: 1s, probability: 0}]}, do: close"),
    (CHANCE, "when: {probability: 0.5, scope: rule}, do: close"),
    (CHANCE, "when: {probability: 0.5, key: group_id}, do: close"),
    (ONE_WAY, f"match: {{api: Produce, direction: request}}, {REFUSE}"),
    (ONE_WAY, "match: {api: Produce}, do: {delay: 1s}"),
    (ONE_WAY, "match: {api: Produce}, do: {respond: {set: {throttle_time_ms: 1}}}"),
    *((ORDER, f"do: {do}") for do in ("drop", "{drop: {selective: false}}", "lose_reply", "close")),
])  # fmt: skip
def test_nothing_is_said_of_other_rules(line: str, rule: str) -> None:
    assert [each for each in found(rule) if each.startswith(line)] == []


def test_what_is_advised_is_not_said_when_a_proxy_starts_and_notes_come_behind_warnings() -> None:
    for when in ("times: 1", "probability: 0.5"):
        scenario = loads(f"version: 1\nrules: [{{name: r, when: {{{when}}}, do: close}}]")
        assert (remarks(scenario), len(advice(scenario))) == ([], 1)
    warning, note = found("match: {api: Fetch, acks: 1}, when: {scope: rule}, do: close")
    assert (warning.partition(":")[0], note.partition(":")[0]) == ("warning", "note")
    assert remarks(None) == warnings(None) == []


# rules that depend on each other


def never(*rules: str) -> list[str]:
    """Which rules never fire, and why."""
    parts = [line.split("'", 2) for line in found(*rules) if " never fires: " in line]
    return [f"{rule}: {why.removeprefix(' never fires: ')}" for _, rule, why in parts]


def test_rules_that_wait_for_one_that_never_fires() -> None:
    waiting = [f"when: {{after: {{rule: r{n}}}}}, do: close" for n in range(4)]
    dead = "match: {api: Fetch, acks: all}, do: close"
    assert never(dead, waiting[0], waiting[1], "do: {delay: 1s}", waiting[3]) == [
        "r0: only Produce requests have acks, no Fetch message has",
        "r1: it waits for rule 'r0', which never fires before it",
        "r2: it waits for rule 'r1', which never fires before it",
    ]
    assert [line[:3] for line in never(waiting[1], waiting[0], "do: drop")] == ["r0:", "r1:"]


def test_a_rule_that_waits_for_more_than_another_may_fire() -> None:
    often = "when: {after: {rule: r0, fired: 3}}, do: close"
    rules = "when: {times: 2, scope: rule}, do: {delay: 1s}", often
    assert never(*rules) == ["r: it waits for rule 'r0' to fire 3 times, not 2"]
    assert never("when: {times: 2}, do: {delay: 1s}", often) == []  # on each connection


def test_a_rule_may_only_fire_for_another_that_waits_for_it() -> None:
    mark = "match: {api: Heartbeat}, do: {delay: 0s}"
    lines = found(mark, "when: {after: {rule: r0}}, do: close")
    assert [line for line in lines if "does nothing" in line] == []


def test_rules_are_told_apart_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparing all that they say, each with each, takes seconds where there are thousands."""
    monkeypatch.setattr(RuleConfig, "__eq__", None, raising=False)
    assert never(*["do: {delay: 1s}"] * 3) == []


FETCH = "match: {api: Fetch}, do: {delay: 1s}"


@pytest.mark.parametrize(("before", "rule"), [
    ("do: close", FETCH),
    ("do: drop", "match: {topic: t}, do: close"),
    ("match: {api: [Fetch, Produce]}, do: reset", "match: {api: Fetch, client_id: a}, do: close"),
    ("match: {client_id: [a, b]}, do: blackhole", "match: {client_id: b}, do: close"),
    ("match: {api: Fetch, version: 3-9}, do: close", "match: {api: Fetch, version: 4}, do: drop"),
    ("match: {direction: request}, do: [{delay: 1s}, {close: {forward: true}}]",
     "match: {direction: request}, do: duplicate"),
])  # fmt: skip
def test_a_rule_behind_an_end_of_all_its_messages_is_said(before: str, rule: str) -> None:
    assert never(before, rule) == ["r: rule 'r0' before it ends every message that it matches"]
    assert never(rule, before) == []


@pytest.mark.parametrize(("before", "rule"), [
    ("match: {api: Fetch}, do: close", "do: {delay: 1s}"),
    ("match: {version: 3}, do: close", "match: {version: 3+}, do: {delay: 1s}"),
    ("match: {client_id: a}, do: close", FETCH),
    ("match: {topic: t}, do: close", "match: {topic: t}, do: {delay: 1s}"),
    ("match: {api: Fetch}, where: max_wait_ms == `1`, do: close", FETCH),
    ("when: {times: 1}, do: close", FETCH),
    ("when: {skip: 1}, do: close", FETCH),
    ("do: {delay: 1s}", "match: {api: Fetch}, do: close"),
    ("match: {api: Fetch}, do: {respond: {error: 3}}", "match: {api: Fetch}, do: close"),
    ("do: close", "do: refuse"),
])  # fmt: skip
def test_a_rule_that_may_be_asked_is_not(before: str, rule: str) -> None:
    assert [line for line in never(before, rule) if line.startswith("r:")] == []
