"""Workloads of Java programs behind a proxy with a ready scenario, and the exchanges of each run."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.experiments.clients import trial, trial_setup, workloads
from barnabas.peers.clients import registry
from tests.experiments.scenarios.kafka import VERSION, ready

SOON: Final = 60.0
"""Seconds that brokers may take to make the topics of a run."""


def run_workload(
    client: str, workload: str, scenario: str | None, bootstrap: str, folder: Path
) -> trial.Trial:
    """Run a workload with 40 records.

    client: `java` or `kafka-streams`, of the brokers' version. workload: see `workloads.WORKLOADS`.
    scenario: None for a proxy without rules. folder: an empty one, where `captured` finds the exchanges.
    """
    program = registry.find(f"{client}@{VERSION}").prepare()
    work = workloads.find(workload)._replace(records=40)
    rules = None if scenario is None else ready(scenario)
    setup = trial_setup.TrialSetup(bootstrap, folder)
    return trial.trial(program, work, rules, setup, threading.Event())


def copy_records(client: str, scenario: str | None, bootstrap: str, folder: Path) -> trial.Trial:
    """Copy 40 records to another topic, each in the transaction that commits its offset."""
    return run_workload(client, "read-process-write", scenario, bootstrap, folder)


def captured(folder: Path, *apis: str) -> list[Exchange]:
    """Return the exchanges of some APIs in a run, in the order of the requests."""
    exchanges = open_capture(folder / trial.CAPTURE).exchanges()
    return sorted((one for one in exchanges if one.api in apis), key=lambda one: one.ts)
