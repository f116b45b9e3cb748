"""The log names checks that run for long."""

from __future__ import annotations

import pytest

from barnabas.addresses import parse_address
from barnabas.cli.conform import checks
from barnabas.cli.console.output import Output
from barnabas.conform.broker import Broker
from barnabas.conform.check import check
from barnabas.conform.network import Network
from barnabas.conform.operations import Sleep
from barnabas.conform.run import Suite


@check("slow/sleeps", "none")
async def sleeps(broker: Broker) -> None:
    """Nothing happens for a while."""
    await Sleep(0.5)


@check("slow/not", "none")
async def does_not(broker: Broker) -> None:
    """Nothing happens."""


def test_a_check_that_runs_for_long_is_named(
    bootstrap: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(checks, "SLOW_S", 0.1)
    suite = Suite(lambda name: Network(parse_address(bootstrap)))
    outcomes = {}
    checks.run_checks(
        suite,
        [sleeps, does_not],
        Output(),
        lambda verdict: outcomes.update({verdict.check: verdict.outcome}),
    )
    assert outcomes == {"slow/sleeps": "pass", "slow/not": "pass"}
    log = capsys.readouterr().err
    assert "running for over 0.1 s: slow/sleeps" in log
    assert "slow/not" not in log
    assert not suite.running
