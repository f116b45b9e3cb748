"""Rules that match messages of both directions, with a fault that applies to those of one."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.proxy.scenario.model import Scenario


def check(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Each rule that counts and fires on messages to which its fault can't be done, and how it does not."""
    for rule in scenario.rules:
        kinds = list(rule.match.kinds())
        if len({way for _, way, _ in kinds}) == 1:
            continue
        for fault in rule.do:
            applies = getattr(fault.config, "applies_to", lambda *_: True)
            ways = {way for key, way, version in kinds if applies(key, way, version)}
            if len(ways) == 1:
                (way,) = ways
                yield (
                    rule.name,
                    f"{fault.name} applies to {way}s, and the rule counts both directions; "
                    f"with direction: {way}, it counts those alone",
                )
