"""The fault and the exchange of a run, read from its scenario's file."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from barnabas.captures.checks.facts import RETRIABLE
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.faults.respond import Respond
from barnabas.proxy.scenario.file import Scenario, loads
from barnabas.specs import NAMES
from barnabas.specs.dialects.keys import error_in
from barnabas.specs.frames import Direction

_JOINING: Final = frozenset(
    (
        *("JoinGroup", "SyncGroup", "Heartbeat"),
        *("ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat"),
    )
)
"""APIs of which client libraries send requests by themselves."""

_REJOIN: Final = frozenset(
    ("REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH")
)
"""Errors of these APIs after which client libraries join the group again."""


class Target(NamedTuple):
    """The fault of a run."""

    k: int
    """The number of the exchange in the recording, from the file's name; 0 if it has none."""
    api: str
    client: str
    cut: str
    """The rule's name."""
    direction: Direction
    name: str
    """The file's name."""
    scenario: Scenario

    @property
    def may_end_program(self) -> bool:
        """Return whether the fault is an error that the client library passes to the program.

        A program may end with a failure if it gets an error that no client retries.
        """
        return any(
            isinstance(fault.config, Respond)
            and fault.config.error != 0
            and error_in(0, fault.config.error) not in RETRIABLE
            and not (self.api in _JOINING and error_in(0, fault.config.error) in _REJOIN)
            for rule in self.scenario.rules
            for fault in rule.do
        )


def target(text: str, name: str, faults: tuple[Fault, ...] = FAULTS) -> Target:
    r"""Return the fault of a scenario with one rule.

    >>> rule = "{name: cut, match: {api: Fetch, client_id: c}, do: close}"
    >>> target(f"version: 1\nrules: [{rule}]", "012-Fetch-cut.yaml")[:5]
    (12, 'Fetch', 'c', 'cut', 'request')

    Args:
        text: YAML.
        name: of the file.
        faults: known kinds of faults.

    Raises:
        ScenarioError: The text is not a valid scenario (barnabas.proxy.scenario).
        ValueError: It has not one rule for one API.
    """
    scenario = loads(text, name, faults)
    match scenario.rules:
        case (rule,) if rule.match.api is not None and len(rule.match.api) == 1:
            number = re.match(r"\d+", name)
            return Target(
                int(number[0]) if number else 0,
                NAMES[next(iter(rule.match.api))],
                " or ".join(rule.match.client_id or ("*",)),
                rule.name,
                rule.match.direction or "request",
                name,
                scenario,
            )
    raise ValueError(f"{name}: expected one rule that matches one API")
