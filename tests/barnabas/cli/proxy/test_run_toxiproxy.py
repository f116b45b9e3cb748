"""`barnabas proxy --toxiproxy` as a process, and its misuse."""

from __future__ import annotations

import json
import socket
import threading
from http.client import HTTPException
from itertools import count
from pathlib import Path

from tests.proxy.toxiproxy.processes import ask, barnabas


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
