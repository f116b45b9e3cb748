from __future__ import annotations

from barnabas.fuzz.oracles.registry import ORACLES
from barnabas.fuzz.report.severity import severity


def test_every_oracle_has_a_severity() -> None:
    assert [oracle.name for oracle in ORACLES if severity(oracle.name).name == "other"] == []


def test_crashes_are_the_gravest_and_logs_the_least() -> None:
    oracles = ["logged", "client-raised", "silent", "client-hung", "client-memory", "client-died"]
    names = [severity(oracle).name for oracle in sorted(oracles, key=severity)]
    assert names == ["crash", "memory", "hang", "wrong data", "undocumented error", "log"]
