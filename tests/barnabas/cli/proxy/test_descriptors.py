"""The proxy takes as many descriptors as it may."""

from __future__ import annotations

import resource
from contextlib import ExitStack
from pathlib import Path

import pytest

from barnabas.peers.embedded import EmbeddedCluster
from tests.barnabas.cli.proxy.test_draining import connect, frame
from tests.barnabas.cli.test_app import started
from tests.proxy.frames import request

pytestmark = pytest.mark.slow("a proxy in a process of its own")


def test_a_low_limit_is_raised_as_far_as_it_may(tmp_path: Path) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    command = ("proxy", "--listen", "127.0.0.1:0", "--log", "off", "-b")
    with (
        EmbeddedCluster(1) as cluster,
        (tmp_path / "errors").open("w") as errors,
        started(
            *(*command, cluster.bootstrap),
            stderr=errors,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard)),
        ) as (_, ready),
        ExitStack() as load,
    ):
        for number in range(50):  # two descriptors each
            client = load.enter_context(connect(ready["listen"]))
            client.sendall(request("ApiVersions", number, version=3))
            assert frame(client)[:4] == number.to_bytes(4)
