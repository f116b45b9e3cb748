"""`barnabas peers start apache:VERSION`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from barnabas.cli.peers.run import start
from barnabas.peers import apache
from barnabas.peers.apache.probe import brokers
from barnabas.trouble import COULD_NOT_RUN, MISUSE, Trouble
from tests.places import ROOT
from tests.remaining import remaining

START = "from barnabas.cli.peers.run import start; raise SystemExit(start({kind!r}))"


@pytest.fixture(autouse=True)
def _signals_as_they_were() -> object:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.needs_apache("3.9.1")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_a_ready_line_and_ends_on_a_signal(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", START.format(kind="apache:3.9.1")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        ready = json.loads(line)["ready"]
        port = int(ready["bootstrap"].removeprefix("127.0.0.1:"))
        assert ready["pid"] == process.pid
        assert brokers(port, (3, 9, 1)) == {1}
        process.send_signal(number)
        rest, notes = remaining(process, 20)
        assert process.returncode == 0
    assert (rest, notes) == ("", "Apache Kafka 3.9.1, kraft; Ctrl-C stops the brokers\n")
    assert brokers(port, (3, 9, 1)) == set()


@pytest.mark.parametrize(("kind", "said"), [
    ("apache:", "apache: has no version after the colon: e.g. apache:4.3.1"),
    ("apache:0.7.2", "0.7.2 can't be downloaded"),
    ("embeded", "unknown kind of brokers 'embeded'; did you mean 'embedded'?"),
    ("embedded:3", "unknown kind of brokers 'embedded:3'"),
])  # fmt: skip
def test_a_kind_or_version_that_is_none_is_misuse_in_a_line(kind: str, said: str) -> None:
    with pytest.raises(Trouble) as caught:
        start(kind)
    assert caught.value.code == MISUSE
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "problem", [apache.UnavailableError("no Java"), apache.BootError("it died", "a line\n")]
)
def test_what_can_not_run_says_why(problem: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise problem

    monkeypatch.setattr(apache.ApacheCluster, "__enter__", fail)
    with pytest.raises(Trouble) as caught:
        start("apache:3.9.1")
    assert caught.value.code == COULD_NOT_RUN
    assert str(caught.value) == str(problem)
