"""Finds rules that may refuse the first batch of an idempotent producer while others are in flight.

A broker accepts any first sequence number of a producer of which it has no records (ProducerAppendInfo). It
stores the batches after the refused one, and then refuses that batch as out of order for ever.
"""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.proxy.faults.respond import Respond
from barnabas.proxy.scenario.model import Scenario
from barnabas.specs.keys import PRODUCE


def check(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield each such rule, and the consequence."""
    for rule in scenario.rules:
        match = rule.match
        if match.api is None or PRODUCE not in match.api or match.direction == "response":
            continue
        for fault in rule.do:
            config = fault.config
            if isinstance(config, Respond) and config.only and not (config.after or rule.when.skip):
                yield (
                    rule.name,
                    "if it refuses the first batch of an idempotent producer, the broker stores later"
                    " batches in flight, and clients may lose the first one; with skip, partitions have"
                    " records by then",
                )
