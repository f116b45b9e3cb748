"""The bench of TLS: against its own server without a proxy, and for short times."""

from __future__ import annotations

import threading
from functools import partial
from multiprocessing import Pipe
from pathlib import Path

import pytest

from bench import opening, server, tls, tls_targets
from bench.proxies import TRIP
from bench.targets import Kind, available

SECONDS = 0.05


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("certificates")
    tls_targets.write_certificates(found)
    return found


@pytest.fixture(scope="module")
def port(folder: Path) -> int:
    ours, theirs = Pipe()
    work = partial(server.serve, ready=partial(tls_targets.accept, folder))
    threading.Thread(target=work, args=(theirs,), daemon=True).start()
    found: int = ours.recv()
    return found


@pytest.mark.parametrize("name", tls.LOADS)
def test_every_load_is_answered_over_tls(name: str, folder: Path, port: int) -> None:
    result = tls.run(folder, port, name, SECONDS)
    assert result.bytes >= 1
    assert result.seconds >= SECONDS
    if name.startswith("64 connections"):
        assert result.bytes == TRIP * len(result.latencies)


def test_another_cipher_is_no_comparison(
    folder: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls_targets, "CIPHER", "TLS_AES_128_GCM_SHA256")
    with pytest.raises(ValueError, match="TLS_AES_256_GCM_SHA384, not TLS_AES_128_GCM_SHA256"):
        tls_targets.connect(folder, port)


def test_sasl_is_gone_through_before_a_connection_is_used(folder: Path, port: int) -> None:
    said: list[tuple[str, ...]] = []
    connect = opening.authenticated(partial(tls_targets.connect, folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "say", lambda _, names: said.append(names))
        connect(port).close()
    assert said == [("SaslHandshake", "SaslAuthenticate")]


def test_who_is_not_installed_is_left_out_with_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    found = tls_targets.kinds()
    monkeypatch.setattr("shutil.which", lambda name: None if name == "stunnel" else name)
    left, remarks = available(found)
    assert remarks == ["stunnel: not on the path"]
    assert {kind.name for kind in found} - {kind.name for kind in left} == {"stunnel, two halves"}


def test_configurations_are_filled_in() -> None:
    places = {"listen": 1, "server": 2, "control": 3, "folder": "/certificates"}
    configs = {kind.name: kind.config.format(**places) for kind in tls_targets.kinds()}
    assert "bind 127.0.0.1:1 ssl crt /certificates/server.pem" in configs["HAProxy, 2 threads"]
    assert "nbthread 2" in configs["HAProxy, 2 threads"]
    assert "server broker 127.0.0.1:2" in configs["HAProxy, 1 thread"]
    assert "connect = 127.0.0.1:3" in configs["stunnel, two halves"]


def test_tables_count_bytes_trips_and_connections() -> None:
    rows = [tls.Row(Kind("direct")), tls.Row(Kind("barnabas", ("x",)))]
    for row in rows:
        for cell in row.cells.values():
            cell.rates.append(4e6)
            cell.bytes, cell.cpu = 1000, 0.002
    bulk, small, cost = tls.tables(rows, "")
    assert list(bulk.columns[1].cells) == ["4 (1.00)", "4 (1.00)"]
    assert list(small.columns[1].cells) == ["10,000 (1.00)", "10,000 (1.00)"]
    assert list(small.columns[2].cells) == ["4,000,000 (1.00)", "4,000,000 (1.00)"]
    assert list(cost.columns[3].cells) == ["800.0"]
    assert list(cost.columns[4].cells) == ["0.00"]
