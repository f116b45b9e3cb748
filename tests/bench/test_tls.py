"""The bench of TLS: against its own server without a proxy, and for short times."""

from __future__ import annotations

import threading
from functools import partial
from multiprocessing import Pipe
from pathlib import Path

import pytest

from bench import server, tls, tls_targets
from bench.proxies import TRIP

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
