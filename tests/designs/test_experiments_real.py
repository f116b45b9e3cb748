"""Each experiment in its short form: some in CI, all at night."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from barnabas.cli.experiments.run import run
from barnabas.experiments.registry import experiment, names

NAMES = [
    name
    for name in names()
    # groups: see rebalances/test_real.py and failover_processes/test_experiment.py;
    # statements of the guide: protocol_guide/test_experiment.py
    if experiment(name).versions
    and not name.startswith(("rebalance-", "commit-", "auto-commit-", "failover-", "protocol-"))
]
LONG = ("pipelined-handlers", "pipelined-metadata")


@pytest.mark.needs_apache("0.8.2.2", "3.9.1", "4.3.1")
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.deep("half a minute") if name in LONG else ())
        for name in NAMES
    ],
)
def test_the_short_form_is_run_and_written(name: str, tmp_path: Path) -> None:
    run(name, tmp_path, short=True)
    document = json.loads((tmp_path / f"{name}.json").read_text())
    text = (tmp_path / f"{name}.md").read_text()
    runs = document["measured"]["runs"]
    assert runs
    # whose first request is refused an idempotent producer gives up: that is its result
    told = [one["problems"] for one in runs if not one["arm"].startswith("idempotent")]
    assert not any(told)
    # what the arms say of themselves is what the capture shows
    for one in runs:
        if one["arm"].startswith("blocking"):
            assert one["in_flight"] == 1
            assert one["in_order"]
    assert "A short run" in text
    assert text.count("|") > 20
