"""A broker that offers versions which no release has made final, and what clients see of them."""

from __future__ import annotations

import pytest

from barnabas.peers.apache import ApacheCluster
from barnabas.specs import api
from barnabas.specs.keys import INIT_PRODUCER_ID
from tests.barnabas.cli.proxy.test_draining import connect, frame
from tests.proxy.frames import request
from tests.real.process import ProxyProcess


def newest(bootstrap: str) -> int:
    """The newest InitProducerId on offer there."""
    with connect(bootstrap) as client:
        client.sendall(request("ApiVersions", 1, version=0))
        body = frame(client)[4:]
    ranges = api("ApiVersions").response.codec(0).decode(body)["api_keys"]
    (found,) = (one["max_version"] for one in ranges if one["api_key"] == INIT_PRODUCER_ID)
    return int(found)


@pytest.mark.needs_apache("4.3.1")
def test_they_are_offered_on_request_only() -> None:
    settings = {"unstable.api.versions.enable": "true"}
    with ApacheCluster("4.3.1", settings=settings) as cluster:
        assert newest(cluster.bootstrap) == 6
        for options, expected in ((), 5), (("--unstable",), 6):
            with ProxyProcess(cluster.bootstrap, *options) as proxy:
                assert newest(proxy.bootstrap) == expected
