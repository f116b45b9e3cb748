"""Finds errors in responses of versions that do not have them in Kafka."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from barnabas.proxy.faults.respond import Respond
from barnabas.proxy.matching.match import Match
from barnabas.proxy.matching.notation import range_text
from barnabas.proxy.scenario.model import Scenario
from barnabas.specs import NAMES
from barnabas.specs.dialects.keys import error_in
from barnabas.specs.error_versions import FIRST_VERSIONS


def check(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield each rule that responds with such an error, and the versions."""
    for rule in scenario.rules:
        for fault in rule.do:
            if isinstance(fault.config, Respond) and rule.match.api is not None:
                error = error_in(0, fault.config.error)
                for api, versions in _older(rule.match, FIRST_VERSIONS.get(error, {})):
                    first = FIRST_VERSIONS[error][api]
                    yield rule.name, f"{api} {versions} has no {error}: match version: {first}+"


def _older(match: Match, first: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield each API with the matching versions that are older than its first one."""
    for name, least in first.items():
        older = [
            version
            for key, direction, version in match.kinds()
            if NAMES[key] == name and direction == "request" and version < least
        ]
        if older:
            yield name, f"v{range_text(older[0], older[-1], -1)}"
