"""`barnabas proxy --toxiproxy` as a process, and its misuse."""

from __future__ import annotations

import json
import socket
import threading
from http.client import HTTPException
from itertools import count
from pathlib import Path

import pytest

from tests.barnabas.cli.command import run
from tests.proxy.toxiproxy.processes import ask, barnabas


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no bootstrap server: give --bootstrap-server HOST:PORT"),
        (["--toxiproxy-config", "x"], "--toxiproxy-config needs --toxiproxy"),
        (["--toxiproxy", "--web"], "--web does not go with --toxiproxy"),
        (["--toxiproxy", "--control", "127.0.0.1:0"], "--control does not go with --toxiproxy"),
        (["--toxiproxy", "--workers", "2"], "--workers does not go with --toxiproxy"),
        (["--toxiproxy", "--no-payload"], "what is not Kafka can't be masked"),
        (["--toxiproxy", "-b", "a:1,b:1"], "give one --bootstrap-server, or none"),
        (["--toxiproxy", "-b", "a:1", "--toxiproxy-config", "x"], "give no --bootstrap-server"),
        (["--toxiproxy=nowhere"], "'nowhere' is no address"),
        (
            ["--toxiproxy", "--toxiproxy-config", "gone.json"],
            "can't read --toxiproxy-config gone.json",
        ),
        (["--toxiproxy", "--toxiproxy-config", "/dev/zero"], "longer than 10 MiB"),
        (["--toxiproxy", "--tls-passthrough", "-b", "a:1"], "--toxiproxy does not go with --tls"),
    ],
)
def test_misuse(arguments: list[str], said: str, tmp_path: Path) -> None:
    result = run("proxy", *arguments, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_it_begins_with_the_proxies_of_a_file(tmp_path: Path) -> None:
    config = tmp_path / "toxiproxy.json"
    proxies = [{"name": name, "listen": "localhost:0", "upstream": "b:1"} for name in "ab"]
    config.write_text(json.dumps(proxies))
    with barnabas("--toxiproxy-config", str(config), "--log", "off") as ours:
        found = json.loads(ask(ours["port"], "GET", "/proxies").body)
        assert {name: each["enabled"] for name, each in found.items()} == {"a": True, "b": True}


def test_it_begins_with_a_proxy_for_the_bootstrap_server() -> None:
    with barnabas("-b", "127.0.0.1:1", "--listen", "127.0.0.1:0", "--log", "off") as ours:
        found = json.loads(ask(ours["port"], "GET", "/proxies").body)
        assert found["kafka"]["upstream"] == "127.0.0.1:1"
        with socket.create_connection(tuple(found["kafka"]["listen"].split(":"))):
            pass


@pytest.mark.parametrize("text", ["[{}]", "{", '[{"name": "a", "upstream": "b:1", "listen": "x"}]'])
def test_a_file_that_is_wrong_is_told_in_a_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "toxiproxy.json").write_text(text)
    result = run(
        *(
            "proxy",
            "--toxiproxy=127.0.0.1:0",
            "--toxiproxy-config",
            "toxiproxy.json",
            "--log",
            "off",
        ),
        cwd=tmp_path,
    )
    assert result.returncode == 2
    assert "can't have the proxy 1 to begin with: " in result.stderr.splitlines()[-1]


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("proxy", f"--toxiproxy=127.0.0.1:{port}", "--log", "off")
    assert result.returncode == 2
    assert f"can't listen on 127.0.0.1:{port}: Address already in use" in result.stderr


def test_it_ends_while_clients_add_proxies() -> None:
    def add(port: int) -> None:
        for number in count():
            given = {"name": f"{number}", "listen": "127.0.0.1:0", "upstream": "b:1"}
            try:
                ask(port, "POST", "/proxies", json.dumps(given).encode())
            except (OSError, HTTPException):
                return

    with barnabas("--log", "off") as ours:
        adding = threading.Thread(target=add, args=(ours["port"],))
        adding.start()
        while len(json.loads(ask(ours["port"], "GET", "/proxies").body)) < 300:
            pass
    adding.join()
