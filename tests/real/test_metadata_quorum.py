"""kafka-metadata-quorum shows through the proxy what it shows without."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.java import java
from barnabas.peers.apache.versions import LOGGER
from tests.real.process import ProxyProcess

VERSION = "4.3.1"
LONG = 300.0
"""Seconds, on a busy machine."""

QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"
ENDPOINT = re.compile(r"CONTROLLER://127\.0\.0\.1:(\d+)")
MOVES = re.compile(r"HighWatermark: .*")


def status(way: str, address: str) -> str:
    """What the tool prints, but for what grows with time."""
    jars = class_path((f"org.apache.kafka:kafka-tools:{VERSION}", LOGGER))
    tool = "org.apache.kafka.tools.MetadataQuorumCommand"
    done = subprocess.run(
        [
            *(str(java()), QUIET, "-cp", os.pathsep.join(map(str, jars)), tool),
            *(way, address, "describe", "--status"),
        ],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return MOVES.sub("", done.stdout)


@pytest.mark.needs_apache(VERSION)
def test_the_status_is_the_same_but_for_the_proxys_ports(kafka: ApacheCluster) -> None:
    with ProxyProcess(kafka.bootstrap) as proxy:
        direct = status("--bootstrap-server", kafka.bootstrap)
        through = status("--bootstrap-server", proxy.bootstrap)
        (real,), (shown,) = ENDPOINT.findall(direct), ENDPOINT.findall(through)
        assert real != shown
        assert through.replace(shown, real) == direct
        # who goes there reaches the controller, and stays behind the proxy
        assert status("--bootstrap-controller", f"127.0.0.1:{shown}") == through
