"""What was asked once is asked again, of a cluster at hand."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from barnabas.peers.embedded import EmbeddedCluster
from barnabas.testing.seen import Seen, ask_again

TOPICS = [{"topic_id": "AAAAAAAAAAAAAAAAAAAAAA", "name": "orders"}]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with EmbeddedCluster(1) as found:
        yield found.bootstrap


def offsets(code: int, *, partition: int = 0, asked: float = 0.0) -> Seen:
    place = {"partition_index": partition, "timestamp": -1, "current_leader_epoch": -1}
    answer = {"partition_index": partition, "error_code": code, "timestamp": -1, "offset": 0}
    return Seen(
        api="ListOffsets",
        version=5,
        client_id="me",
        asked=asked,
        answered=asked + 1,
        request={"replica_id": -1, "topics": [{"name": "orders", "partitions": [place]}]},
        response={"topics": [{"name": "orders", "partitions": [{**answer, "leader_epoch": -1}]}]},
    )


def test_what_differs_is_said_in_a_line_and_a_topic_that_lacks_is_made(cluster: str) -> None:
    seen = [offsets(0), offsets(6, partition=1, asked=2.0)]
    ignored = ("leader_epoch",)
    assert ask_again(seen, cluster, ignored) == [
        "ListOffsets v5 of me: topics[orders].partitions[1].error_code: 6 ≠ 0"
    ]
    assert ask_again(seen, cluster, (*ignored, "error_code")) == []


def test_bytes_may_stand_for_a_body_and_what_has_no_answer_is_not_compared(cluster: str) -> None:
    one = Seen(
        api="FindCoordinator", version=0, request=b"\0\1g", response=bytes(6) + b"\0\1h\0\0\0\1"
    )
    (differs,) = ask_again([one], cluster, ("node_id", "port"))
    assert differs.startswith(
        "FindCoordinator v0 of a client without an id: host: 'h' ≠ '127.0.0.1'"
    )
    assert ask_again([Seen(api="FindCoordinator", version=0, request=b"\0\1g")], cluster) == []


def test_what_no_cluster_is_asked_is_said(cluster: str) -> None:
    stop = Seen(api="DeleteTopics", version=1, request={"topic_names": ["orders"], "timeout_ms": 9})
    assert ask_again([stop], cluster) == [
        "DeleteTopics v1 of a client without an id: not asked: not allowed (--allow DeleteTopics)"
    ]


def test_a_cluster_that_is_not_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectionError, match=r"Connect call failed|refused"):
            ask_again([offsets(0)], f"127.0.0.1:{free.getsockname()[1]}")


def test_importing_it_imports_no_more_of_barnabas() -> None:
    code = (
        "import sys, barnabas.testing.seen;"
        "print([m for m in sys.modules if m.startswith(('barnabas.peers', 'barnabas.specs'))])"
    )
    command = (sys.executable, "-c", code)
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
