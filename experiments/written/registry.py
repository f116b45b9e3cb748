"""The registry of experiments: a literal tuple, so that none is imported before it is run."""

from __future__ import annotations

import importlib
from typing import Final

from barnabas.experiments.experiment import Experiment
from barnabas.nearest import did_you_mean

EXPERIMENTS: Final = (
    ("pipelined-throughput", "pipelined_throughput"),
    ("pipelined-order", "pipelined_order"),
    ("idempotence-order", "idempotence_order"),
    ("pipelined-queues", "pipelined_queues"),
    ("pipelined-metadata", "pipelined_metadata"),
    ("pipelined-handlers", "pipelined_handlers"),
    ("pipelined-serializing", "pipelined_serializing"),
    ("pipelined-java", "pipelined_java"),
    ("rewrite-latency", "rewrite_latency"),
    ("rewrite-failover", "rewrite_failover"),
    ("rewrite-slow", "rewrite_slow"),
    ("central-dying", "central_dying"),
    ("central-failover", "central_failover"),
    ("central-pause", "central_pause"),
    ("failover-processes", "failover_processes"),
    ("rebalance-waits", "rebalance_waits"),
    ("rebalance-duplicates", "rebalance_duplicates"),
    ("commit-overtaken", "commit_overtaken"),
    ("commit-overwrites", "commit_overwrites"),
    ("commit-overtaken-classic", "commit_overtaken_classic"),
    ("commit-overtaken-consumer", "commit_overtaken_consumer"),
    ("commit-overtaken-clients", "commit_overtaken_clients"),
    ("auto-commit-crash", "auto_commit_crash"),
    ("protocol-guide", "protocol_guide"),
)
"""(name, module): the module has it as EXPERIMENT."""


def experiment(name: str) -> Experiment:
    """An experiment by its name. Raises LookupError, in words.

    >>> experiment("rewrite-slaw")
    Traceback (most recent call last):
    LookupError: no experiment 'rewrite-slaw'; did you mean 'rewrite-slow'?
    >>> experiment("nope")
    Traceback (most recent call last):
    LookupError: no experiment 'nope'
    """
    for known, module in EXPERIMENTS:
        if known == name:
            found: Experiment = importlib.import_module(
                f"barnabas.experiments.written.{module}"
            ).EXPERIMENT
            return found
    hint = did_you_mean(name, [known for known, _ in EXPERIMENTS])
    raise LookupError(f"no experiment {name!r}{hint}")
