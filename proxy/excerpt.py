"""What rules did to some messages, as a scenario that does it again to such messages.

Of each rule that fired on them it has what the rule does, for the APIs and clients of these messages. How
often follows from the messages: the rule fires on the first so many, behind so many that it let pass. Where
that can't be told, or they do not follow each other, the rule keeps its own `when`, which decides as it did.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import ANSWERED_BY_PROXY
from barnabas.captures.kafka.wording import listed, printable
from barnabas.plural import plural
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.matching.message import Message
from barnabas.proxy.rules.rule import compiled
from barnabas.proxy.scenario.file import ScenarioError, loads
from barnabas.proxy.scenario.model import RuleConfig, Scenario
from barnabas.proxy.scenario.yaml_lines import dump, plain, read
from barnabas.specs.frames import DIRECTIONS, Direction

CLIENTS: Final = 8
"""Client ids that a rule is narrowed to at most."""

Topics = Mapping[uuid.UUID, str]

Source = tuple[int, str]
"""Since when a scenario holds (ns since the epoch), and its text."""


class Excerpt(NamedTuple):
    """The scenario's text, and the names of rules that fired and that no scenario has."""

    text: str
    left_out: tuple[str, ...] = ()


def excerpt(
    exchanges: Iterable[Exchange],
    sources: Sequence[Source],
    topics: Topics,
    faults: tuple[Fault, ...] = FAULTS,
) -> Excerpt:
    """The scenario, with comments on what it was made of; it always loads with these faults.

    sources: those that held, the earliest first; one that can't be read is as one that is not there.
    topics: names by id, as far as they are known.
    """
    chosen = sorted(exchanges, key=lambda exchange: exchange.ts)
    held = [one for one in (_held(*source, faults) for source in sources) if one is not None]
    held = [one for one in held if one.top.get("dialect") == held[0].top.get("dialect")]
    unknown: Counter[str] = Counter()
    for exchange in chosen:
        for name in exchange.rules:
            rule = _rule_of(held, exchange.ts, name)
            if rule is None:
                unknown[name] += 1
            else:
                rule.fired.append(exchange)
    fired = _merged(rule for one in held for rule in one.rules if rule.fired)
    text = [f"# What rules did to {plural(len(chosen), 'exchange')}, again.\n"]
    if passed := sum(not exchange.rules for exchange in chosen):
        text.append(f"# No rule fired on {passed} of them.\n")
    if unknown:
        names = listed([repr(printable(name)) for name in unknown], "rule", 200)
        text.append(f"# Left out, since no scenario at hand has it: {names}.\n")
    top = {**held[0].top, "version": 1} if held else {"version": 1}
    text.append(dump(top))
    load = partial(_loaded, top, faults)
    whole = _with_referred({rule.name: _again(rule, chosen, topics, load) for rule in fired}, held)
    text.append("rules:\n" if whole else "rules: []\n")
    text += (f"# {said}.\n{dump([raw])}" for said, raw in whole)
    return Excerpt("".join(text), tuple(unknown))


Made = tuple[str, dict[str, Any]]
"""What is said of a rule, and the rule."""

Load = Callable[[dict[str, Any]], RuleConfig | None]


@dataclass(slots=True)
class _Rule:
    raw: dict[str, Any]
    """As it stands in the scenario."""
    fired: list[Exchange] = field(default_factory=list)

    @property
    def name(self) -> str:
        """As the scenario has it, or another one if two would share it."""
        found: str = self.raw["name"]
        return found


@dataclass(slots=True)
class _Held:
    """A scenario that held since `began`."""

    began: int
    top: dict[str, Any]
    """What its rules depend on beside themselves."""
    rules: list[_Rule]


def _held(began: int, text: str, faults: tuple[Fault, ...]) -> _Held | None:
    try:
        loads(text, faults=faults)
    except ScenarioError:
        return None
    values = plain(read(text).value)
    top = {name: values[name] for name in ("version", "seed", "dialect") if name in values}
    return _Held(began, top, [_Rule(rule) for rule in values["rules"]])


def _rule_of(held: list[_Held], ts: int, name: str) -> _Rule | None:
    """The rule of this name that held then; else one of another time."""
    then = [one for one in held if one.began <= ts]
    for one in (*reversed(then), *held):
        for rule in one.rules:
            if rule.name == name:
                return rule
    return None


def _merged(rules: Iterable[_Rule]) -> list[_Rule]:
    """Rules that say the same are one; of others that share a name each later one gets another."""
    found: list[_Rule] = []
    names: set[str] = set()
    by_text: dict[str, _Rule] = {}
    for rule in rules:
        text = dump(rule.raw)
        if text in by_text:
            by_text[text].fired += rule.fired
            continue
        by_text[text] = rule
        name, count = rule.name, 1
        while rule.name in names:
            count += 1
            rule.raw = {**rule.raw, "name": f"{name} ({count})"}
        names.add(rule.name)
        found.append(rule)
    return found


def _with_referred(found: dict[str, Made], held: list[_Held]) -> list[Made]:
    """With the rules that the `when` of others names, in front of them: those are as they were."""
    referred: dict[str, Made] = {}
    looked = list(found.values())
    for _, raw in looked:
        for name in _named(raw):
            if name not in referred:
                raws = (rule.raw for one in held for rule in one.rules if rule.name == name)
                referred[name] = "Another rule waits for it", next(raws)
                looked.append(referred[name])
    rest = [made for name, made in found.items() if name not in referred]
    return [*reversed(referred.values()), *rest]


def _named(raw: dict[str, Any]) -> Iterator[str]:
    when = raw.get("when") or {}
    for point in (when.get("after"), when.get("until")):
        if isinstance(point, dict) and "rule" in point:
            yield point["rule"]


def _again(rule: _Rule, chosen: list[Exchange], topics: Topics, load: Load) -> Made:
    """A rule that fired, for such messages."""
    raw = _narrowed(rule)
    config = load(raw)
    if config is None:  # such as one that may name brokers only
        raw = rule.raw
        config = load(raw)
    said = f"It fired on {len(rule.fired)} of the exchanges"
    when = None if config is None else _when(rule, config, chosen, topics)
    if when is None:
        return f"{said}; when it fires is as it was", raw
    if before := when.get("skip"):
        said += f", behind {plural(before, 'message')} that passed it"
    raw = {name: value for name, value in raw.items() if name not in ("when", "do")}
    return said, {**raw, "when": when, "do": rule.raw["do"]}


def _narrowed(rule: _Rule) -> dict[str, Any]:
    """The same for the APIs and clients of the messages that it fired on."""
    match = dict(rule.raw.get("match") or {})
    apis = sorted({exchange.api for exchange in rule.fired})
    match["api"] = apis[0] if len(apis) == 1 else apis
    clients = sorted({exchange.client_id or "" for exchange in rule.fired})
    if "client_id" not in match and all(clients) and len(clients) <= CLIENTS:
        globs = list(map(_literal, clients))
        match["client_id"] = globs[0] if len(globs) == 1 else globs
    return {"name": rule.name, "match": match} | {
        name: value for name, value in rule.raw.items() if name not in ("name", "match")
    }


def _literal(text: str) -> str:
    """A glob that means a text itself.

    >>> _literal("a*[b]")
    'a[*][[]b]'
    """
    return "".join(f"[{one}]" if one in "*?[" else one for one in text)


def _loaded(
    top: dict[str, Any], faults: tuple[Fault, ...], raw: dict[str, Any]
) -> RuleConfig | None:
    """A rule by itself; None if it can't be. What it waits for need not be there."""
    alone = {name: value for name, value in raw.items() if name != "when"}
    try:
        found: Scenario = loads(dump({**top, "rules": [alone]}), faults=faults)
    except ScenarioError:
        return None
    return found.rules[0]


def _when(
    rule: _Rule, config: RuleConfig, chosen: list[Exchange], topics: Topics
) -> dict[str, Any] | None:
    """How often it has to fire on such messages; None if these do not tell."""
    ways: tuple[Direction, ...] = DIRECTIONS
    if config.match.direction is not None:
        ways = (config.match.direction,)
    elif rule.raw.get("when"):
        return None  # on which of the two it fired is not known
    if config.match.connection is not None:
        return None
    ours = set(map(id, rule.fired))
    messages = sorted(
        (exchange.ts if way == "request" else exchange.end, id(exchange))
        for exchange in chosen
        for way in ways
        if _meets(config, exchange, way, topics)
    )
    fired = [which in ours for _, which in messages]
    if not ours <= {which for _, which in messages}:
        return None
    skip, times = fired.index(True), sum(fired)
    if not all(fired[skip : skip + times]):
        return None
    return {**({"skip": skip} if skip else {}), "times": times, "scope": "rule"}


def _meets(config: RuleConfig, exchange: Exchange, way: Direction, topics: Topics) -> bool:
    """Whether a rule is about a message."""
    size = exchange.request_size if way == "request" else exchange.response_size
    if size is None or (way == "response" and exchange.note == ANSWERED_BY_PROXY):
        return False
    message = Message(
        direction=way,
        key=exchange.key,
        version=exchange.version,
        client_id=exchange.client_id,
        broker=exchange.node,
        connection=exchange.connection,
        ordinal=-1,
        group=None,
        size=size,
        body=exchange.body(way),
        request=exchange.request_body,
        acks=_acks(exchange) if way == "request" else None,
        topics=topics,
    )
    match = config.match
    return (
        match.key_matches(way, exchange.key, exchange.version)
        and match.peer_matches(exchange.client_id, exchange.node, -1)
        and compiled(config).meets(message)
    )


def _acks(exchange: Exchange) -> int | None:
    found: int | None = (exchange.request or {}).get("acks")
    return found
