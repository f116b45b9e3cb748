from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.peers.embedded import EmbeddedCluster
from tests.barnabas.cli.ctl.bench import SCENARIO, Bench
from tests.barnabas.cli.test_app import started


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with EmbeddedCluster(1, topics={"orders": 1}) as found:
        yield found.bootstrap


@pytest.fixture
def bench(cluster: str, tmp_path: Path) -> Iterator[Bench]:
    scenario, token = tmp_path / "rules.yaml", tmp_path / "token"
    scenario.write_text(SCENARIO)
    options = ("--log", "off", "--control", "127.0.0.1:0", "--control-token-file", str(token))
    arguments = ("proxy", "-b", cluster, "-l", "127.0.0.1:0", "-s", str(scenario), *options)
    with started(*arguments) as (process, ready):
        yield Bench(process, ready, scenario, token)
