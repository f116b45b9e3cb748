"""Masters' URLs, and whether somebody is there."""

from __future__ import annotations

import socket

import pytest

from barnabas.pipeline.spark.errors import UnavailableError
from barnabas.pipeline.spark.masters import Master, parse_master, reach


@pytest.mark.parametrize(
    ("text", "here"),
    [
        ("spark://127.0.0.1:7077", True),
        ("spark://localhost:7077", True),
        ("spark://[::1]:7077", True),
        ("spark://127.0.0.1:7077,example.org:7077", False),
        ("sc://example.org", False),
        ("local[2]", True),
        ("local-cluster[2,1,1024]", True),
        ("yarn", False),
        ("k8s://https://example.org:443", False),
    ],
)
def test_what_is_all_on_loopback_listens_nowhere_else(text: str, here: bool) -> None:
    assert parse_master(text).is_local is here


@pytest.mark.parametrize(
    "text", ["k8s://https://example.org:443", "yarn", "local-cluster[2,1,1024]"]
)
def test_what_only_spark_can_reach_is_left_to_it(text: str) -> None:
    assert parse_master(text) == Master(text, "cluster")
    reach(parse_master(text))


@pytest.mark.parametrize(
    "text",
    ["", "localhost:7077", "spark://", "spark://host", "local[0]", "local-cluster[2,1]", "x"],
)
def test_what_is_no_master_is_said(text: str) -> None:
    with pytest.raises(ValueError, match="is not a master"):
        parse_master(text)


def test_nobody_there_is_said_at_once_with_the_reason() -> None:
    with socket.create_server(("127.0.0.1", 0)) as there:
        port = there.getsockname()[1]
        reach(parse_master(f"spark://127.0.0.1:1,127.0.0.1:{port}"))  # one of several is enough
    with pytest.raises(UnavailableError) as raised:
        reach(parse_master(f"sc://127.0.0.1:{port}"))
    assert str(raised.value) == f"no answer from sc://127.0.0.1:{port}: Connection refused"


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (TimeoutError("timed out"), "timed out"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
    ],
)
def test_other_reasons_are_said_too(problem: OSError, said: str) -> None:
    def fail(*_: object, **__: object) -> socket.socket:
        raise problem

    with pytest.raises(UnavailableError, match=said):
        reach(parse_master("spark://a:1"), fail)
