"""The workloads with which each scenario is run, if not with all: the same for all clients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from barnabas.experiments.clients.relevance import RequestedApi, applicable_rules
from barnabas.proxy.scenario.file import Scenario


def spread(
    scenarios: Sequence[tuple[str, Scenario]],
    requested: Mapping[str, Collection[RequestedApi]],
    most: int,
) -> dict[str, frozenset[str]]:
    """Choose at most `most` workloads for each scenario.

    Workloads in which more rules of the scenario can fire come first; among equal ones, those that have fewer
    scenarios so far.

    Args:
        scenarios: by name.
        requested: by workload, the APIs that clients request in it without faults.
        most: workloads of a scenario.
    """
    load: Counter[str] = Counter()
    chosen: dict[str, frozenset[str]] = {}
    for name, scenario in scenarios:
        rules = {each: len(applicable_rules(scenario, apis)) for each, apis in requested.items()}
        able = [each for each in rules if rules[each]]
        ranked = sorted(able, key=lambda each: (-rules[each], load[each]))
        chosen[name] = frozenset(ranked[:most])
        load.update(chosen[name])
    return chosen
