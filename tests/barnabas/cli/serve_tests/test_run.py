"""`barnabas serve-tests` as a program starts and stops it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.barnabas.cli.command import run
from tests.barnabas.testing.server.served import Server, producer, send


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--listen", "0.0.0.0:0"), "it listens on loopback only, e.g. 127.0.0.1:0"),
        (("--test-timeout", "0s"), "--test-timeout: a test that ends at once is of no use"),
        (("--test-timeout", "soon"), "--test-timeout: "),
        (("--bootstrap-server", "kafka:nine"), "is no address"),
        (("--bootstrap-server", "127.0.0.1:1", "--captures", "/dev/null/x"), "another --captures"),
        (("--bootstrap-server", "127.0.0.1:1", "--token-file", "/dev"), "that is no file"),
        (("--broker-insecure",), "--broker-insecure: the embedded cluster speaks no TLS; give -"),
        (("--client-ca", __file__), "--client-ca is for clients that speak TLS: give --client-tls"),
        (
            ("--client-cert", "x", "--token-file", "x"),
            "--token-file x would overwrite the file of ",
        ),
        (
            ("--client-tls", "--listen", "127.0.0.1:0", "--client-ca", "none"),
            "--client-ca none: No",
        ),
    ],
)
def test_what_can_not_be_is_said_in_a_line(options: tuple[str, ...], said: str) -> None:
    done = run("serve-tests", *options)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        done = run("serve-tests", "-b", "127.0.0.1:1", "--listen", where)
    assert (done.returncode, done.stderr) == (
        2,
        f"barnabas: can't listen on {where}: Address already in use; choose another --listen\n",
    )


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_and_leaves_nothing_but_the_captures_that_were_asked_for(
    tmp_path: Path, ending: signal.Signals
) -> None:
    token, captures = tmp_path / "token", tmp_path / "made" / "captures"
    options = ("--captures", str(captures), "--token-file", str(token))
    before = set(Path(tempfile.gettempdir()).glob("barnabas-tests-*"))
    with subprocess.Popen(
        [sys.executable, "-m", "barnabas", "serve-tests", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        ready = json.loads(process.stdout.readline())["ready"]
        assert token.read_text().strip() == ready["token"]
        server = Server(ready["control"], ready["token"])
        test = server.begin(name="left alone")
        with producer(test) as maker:
            send(maker)
            process.send_signal(ending)
            assert process.wait(15) == 0
        assert process.stderr
        assert process.stderr.read() == ""
    (capture,) = captures.iterdir()
    assert capture == Path(test["capture"])
    assert capture.name == f"left_alone-{test['id']}.pcapng"
    assert set(Path(tempfile.gettempdir()).glob("barnabas-tests-*")) == before
    where, port = test["bootstrap"].split(":")
    with socket.socket() as other:
        assert other.connect_ex((where, int(port))) != 0
