"""TLS on the command line: what is wrong is one line before anything listens, the rest works."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

import pytest
import trustme

from barnabas.cli.proxy.tls_contexts import data_folder, make_tls
from barnabas.cli.proxy.tls_options import ClientTls, ProxyBrokerTls, TlsOptions
from barnabas.trouble import Trouble
from tests.barnabas.cli.test_app import started


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pem")
    ca = trustme.CA()
    ca.cert_pem.write_to_path(str(folder / "ca.pem"))
    leaf = ca.issue_cert("localhost")
    leaf.private_key_and_cert_chain_pem.write_to_path(str(folder / "both.pem"))
    return folder


@pytest.mark.parametrize(
    "given", ["broker_tls", "broker_ca", "broker_cert", "broker_server_name", "broker_insecure"]
)
def test_any_option_about_brokers_turns_it_on(given: str, pem: Path) -> None:
    values = {
        "broker_ca": pem / "ca.pem",
        "broker_cert": pem / "both.pem",
        "broker_server_name": "kafka",
    }
    tls = make_tls(TlsOptions(brokers=ProxyBrokerTls(**{given: values.get(given, True)})))  # type: ignore[arg-type]
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
        make_tls(TlsOptions(clients=ClientTls(client_tls=True)))


def test_what_is_made_is_printed_and_kept(tmp_path: Path) -> None:
    command = ("proxy", "-b", "127.0.0.1:1", "--listen", "127.0.0.1:0", "--client-tls")
    arguments = (*command, "--broker-insecure", "--advertise", "localhost")
    home = os.environ | {"XDG_DATA_HOME": str(tmp_path)}
    kept = tmp_path / "barnabas" / "ca" / "ca.pem"
    with started(*arguments, env=home) as (process, _):
        first = kept.read_text()
        process.terminate()
        _, said = process.communicate(timeout=60)
    assert "WARNING: tls to the brokers without verifying their certificates" in said
    assert f"tls: clients must trust the CA in {kept}" in said
    assert "edit: clients get localhost as the host of all listeners" in said
    assert process.returncode == 0
    with started(*arguments, env=home):
        assert kept.read_text() == first
    assert (kept.parent / "ca.key").stat().st_mode & 0o077 == 0
