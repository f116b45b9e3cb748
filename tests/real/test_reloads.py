"""A scenario that is replaced again and again while clients are at work, captured and logged."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.files.private import replace
from barnabas.cli.proxy.log_reader import BATCH
from barnabas.peers.embedded import EmbeddedCluster
from tests.real.load import asking, working
from tests.real.process import ProxyProcess, passed

pytestmark = pytest.mark.slow("a thousand reloads")

RELOADS: Final = 1000
WARM: Final = 50
"""Reloads after which memory is what it is to be."""

ROOM: Final = 8 << 20
"""Bytes of memory that those behind them may cost: what the last exchanges keep, and fragments."""

TOPICS: Final = ("one", "two")
PARTITIONS: Final = 3

RULES: Final = tuple(
    f"version: 1\nseed: {number}\nrules:\n"
    f"  - {{name: {name}, match: {{api: {api}, direction: {way}}}, when: {{probability: 0.5}}, "
    f"do: {{delay: {delay}}}}}\n"
    for number, (name, api, way, delay) in enumerate(
        (
            ("slow produces", "Produce", "request", "30ms"),
            ("slow acknowledgements", "Produce", "response", "50ms"),
            ("slow fetches", "Fetch", "response", "20ms"),
        )
    )
)
"""Scenarios in turn: when one goes, it may hold messages, which then leave in order."""


@pytest.mark.timeout(400)
def test_a_thousand_reloads_lose_nothing_and_keep_no_memory(tmp_path: Path) -> None:
    scenario, capture = tmp_path / "rules.yaml", tmp_path / "run.pcapng"
    scenario.write_text(RULES[0])
    options = ("--log", "json", "--capture", str(capture), "--scenario", str(scenario))
    with (
        EmbeddedCluster(2, topics=dict.fromkeys(TOPICS, PARTITIONS)) as cluster,
        ProxyProcess(cluster.bootstrap, *options, "--control", "127.0.0.1:0") as proxy,
    ):
        with (
            working(proxy.bootstrap, cluster.bootstrap, TOPICS, PARTITIONS),
            asking(proxy.address),
        ):
            for number in range(RELOADS):
                if number == WARM:
                    warm = proxy.own
                text = RULES[number % len(RULES)]
                proxy.control.ask("PUT", "/scenario", text.encode())
                if not number % 100:  # it is read when it has stayed the same for a while
                    replace(scenario, f"{text}# {number}\n".encode())
            grown = proxy.own - warm
        proxy.terminate()
        assert proxy.wait() == 0
        said = proxy.said
    by = Counter(re.findall(r"^scenario: .* by (the control port|its file): ", said, re.MULTILINE))
    unprinted = sum(map(int, re.findall(r"(\d+) lines? not printed", said)))
    assert RELOADS - unprinted <= by["the control port"] <= RELOADS
    assert by["its file"]
    lost = sum(map(int, re.findall(r"(\d+) exchanges? not printed", said)))
    # a reader that is too slow at the end is killed, maybe between printing exchanges and counting them
    assert 0 <= len(proxy.exchanges) + lost - passed(said) <= BATCH
    assert " lost " not in said
    assert sum(1 for _ in open_capture(capture).exchanges()) == passed(said)
    assert grown < ROOM, f"{grown / 2**20:.1f} MiB"
