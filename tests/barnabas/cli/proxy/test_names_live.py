"""A rule on a topic's name where only the brokers can tell it: a real one is asked by the topic's id."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest

from barnabas.addresses import parse_servers
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from barnabas.peers.replay.connection import LiveConnection
from barnabas.proxy.scenario.file import loads
from barnabas.specs import api
from barnabas.specs.keys import FETCH, METADATA

RULE = """
version: 1
rules: [{name: r, match: {api: Fetch, direction: request, topic: told}, do: {delay: 1ms}}]
"""


async def ask(bootstrap: str, key: int, version: int, **body: Any) -> dict[str, Any]:
    (address,) = parse_servers(bootstrap)
    connection = await LiveConnection.open(address)
    found = connection.send(key, version, "me", api(key).request.codec(version).encode(body))
    assert found is not None
    answer = api(key).response.codec(version).decode(await found)
    await connection.close()
    return answer


def topic_id(bootstrap: str, name: str) -> uuid.UUID:
    asked = {"topics": [{"topic_id": uuid.UUID(int=0), "name": name}]}
    answer = asyncio.run(ask(bootstrap, METADATA, 12, **asked))
    found: uuid.UUID = answer["topics"][0]["topic_id"]
    return found


def fetch(bootstrap: str, topic: uuid.UUID) -> dict[str, Any]:
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
    asked = {"topics": [{"topic_id": topic, "partitions": [partition]}], "session_epoch": -1}
    limits = {"max_wait_ms": 100, "min_bytes": 1, "max_bytes": 1 << 20}
    return asyncio.run(ask(bootstrap, FETCH, 13, **asked, **limits))


@pytest.mark.needs_apache("4.3.1")
@pytest.mark.timeout(120)
def test_a_real_broker_tells_the_name_that_no_client_asks_for(kafka: ApacheCluster) -> None:
    with JavaClient("4.3.1", {"bootstrap.servers": kafka.bootstrap}) as java:
        java.produce("told", [b"one"])
        java.produce("untold", [b"two"])
    told, untold = (topic_id(kafka.bootstrap, name) for name in ("told", "untold"))
    with Harness(kafka.bootstrap, scenario=loads(RULE)) as proxy:
        (rule,) = proxy.rules.rules
        answers = [fetch(proxy.bootstrap, told)]
        assert (rule.fired, rule.unclear) == (0, 1)
        while not rule.fired:
            answers.append(fetch(proxy.bootstrap, told))
        while rule.unclear == len(answers) - rule.fired:
            answers.append(fetch(proxy.bootstrap, untold))
        assert rule.fired == 1
    for answer in answers:
        assert answer["error_code"] == answer["responses"][0]["partitions"][0]["error_code"] == 0
    assert {exchange.key for exchange in proxy.exchanges} == {FETCH}
    assert not [line for line in proxy.lines if "lacks the name" in line]
