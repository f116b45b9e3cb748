"""Finds rules that match both directions, with a fault that applies to one of them."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.proxy.scenario.model import Scenario


def check(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield each rule that counts messages to which its fault cannot be applied, and the remedy."""
    for rule in scenario.rules:
        kinds = list(rule.match.kinds())
        if len({direction for _, direction, _ in kinds}) == 1:
            continue
        for fault in rule.do:
            if getattr(fault.config, "concerns", None) is not None:
                continue  # the rule matches only messages of the fault's direction
            applies = getattr(fault.config, "applies_to", lambda *_: True)
            directions = {
                direction for key, direction, version in kinds if applies(key, direction, version)
            }
            if len(directions) == 1:
                (direction,) = directions
                yield (
                    rule.name,
                    f"{fault.name} applies to {direction}s, and the rule counts both directions; "
                    f"with direction: {direction}, it counts those alone",
                )
