"""TLS on the command line: what is wrong is one line before anything listens, the rest works."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme

from barnabas.cli.proxy.tls_options import TlsOptions, data_folder, make_tls
from barnabas.trouble import Trouble


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pem")
    ca = trustme.CA()
    ca.cert_pem.write_to_path(str(folder / "ca.pem"))
    for name in ("one", "two"):
        leaf = ca.issue_cert("localhost")
        leaf.cert_chain_pems[0].write_to_path(str(folder / f"{name}.pem"))
        leaf.private_key_pem.write_to_path(str(folder / f"{name}.key"))
    leaf.private_key_and_cert_chain_pem.write_to_path(str(folder / "both.pem"))
    (folder / "text.pem").write_text("this is no certificate")
    (folder / "folder").mkdir()
    return folder


def test_nothing_given_is_plain_text() -> None:
    tls = make_tls(TlsOptions())
    assert (tls.broker, tls.client, tls.explain()) == (None, None, [])


@pytest.mark.parametrize(
    "given", ["broker_tls", "broker_ca", "broker_cert", "broker_server_name", "broker_insecure"]
)
def test_any_option_about_brokers_turns_it_on(given: str, pem: Path) -> None:
    values = {
        "broker_ca": pem / "ca.pem",
        "broker_cert": pem / "both.pem",
        "broker_server_name": "kafka",
    }
    tls = make_tls(TlsOptions(**{given: values.get(given, True)}))  # type: ignore[arg-type]
    assert tls.broker is not None
    assert tls.client is None
    checked = ssl.CERT_NONE if given == "broker_insecure" else ssl.CERT_REQUIRED
    assert tls.broker.verify_mode == checked
    assert tls.explain()[0].startswith("WARNING" if given == "broker_insecure" else "tls: to the b")


def test_a_damaged_ca_of_our_own(pem: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(pem / "damaged"))
    folder = data_folder() / "ca"
    folder.mkdir(parents=True)
    for name in ("ca.pem", "ca.key"):
        (folder / name).write_text("damaged")
    with pytest.raises(Trouble, match="remove it for a new one"):
        make_tls(TlsOptions(client_tls=True))


@contextmanager
def proxy(*arguments: str, home: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Where a proxy of the command line listens, and the process."""
    command = [sys.executable, "-m", "barnabas", "proxy", "-b", "127.0.0.1:1"]
    process = subprocess.Popen(
        [*command, "--listen", "127.0.0.1:0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"XDG_DATA_HOME": str(home)},
    )
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["ready"]["listen"], process
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()
        assert process.stderr is not None
        process.stderr.close()


def test_what_is_made_is_printed_and_kept(tmp_path: Path) -> None:
    arguments = ("--client-tls", "--broker-insecure", "--advertise", "localhost")
    kept = tmp_path / "barnabas" / "ca" / "ca.pem"
    with proxy(*arguments, home=tmp_path) as (_, process):
        first = kept.read_text()
        process.terminate()
        assert process.stderr is not None
        said = process.stderr.read()
    assert "WARNING: tls to the brokers without verifying their certificates" in said
    assert f"tls: clients must trust the CA in {kept}" in said
    assert "edit: clients are told localhost as the host of all listeners" in said
    assert process.returncode == 0
    with proxy(*arguments, home=tmp_path):
        assert kept.read_text() == first
    assert (kept.parent / "ca.key").stat().st_mode & 0o077 == 0
