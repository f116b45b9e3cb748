"""Proxies of tests between clients and brokers that speak TLS."""

from __future__ import annotations

from pathlib import Path

import pytest
import trustme

from barnabas.peers.embedded import EmbeddedCluster
from tests.barnabas.testing.server.served import Server, producer, send
from tests.page.browser import barnabas

pytestmark = pytest.mark.slow("a cluster, and two proxies in processes of their own")


def test_both_sides_speak_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    brokers, clients = trustme.CA(), trustme.CA()
    broker, client = brokers.issue_cert("127.0.0.1"), clients.issue_cert(common_name="maker")
    files = {
        "brokers": brokers.cert_pem,
        "clients": clients.cert_pem,
        "broker": broker.private_key_and_cert_chain_pem,
        "certificate": client.cert_chain_pems[0],
        "key": client.private_key_pem,
    }
    for name, blob in files.items():
        blob.write_to_path(str(tmp_path / name))
    at = {name: str(tmp_path / name) for name in files}
    secured = ("--listen", "127.0.0.1:0", "--client-cert", at["broker"])
    tls = ("--broker-ca", at["brokers"], "--client-tls", "--client-ca", at["clients"])
    with (
        EmbeddedCluster(1) as cluster,
        barnabas("proxy", "-b", cluster.bootstrap, *secured) as there,
        barnabas("serve-tests", "-b", there["listen"], *tls) as ready,
    ):
        server = Server(ready["control"], ready["token"])
        test = server.begin()
        settings = {
            "security.protocol": "ssl",
            "ssl.ca.location": ready["ca"],
            "ssl.certificate.location": at["certificate"],
            "ssl.key.location": at["key"],
        }
        with producer(test, **settings) as maker:
            send(maker)
        wanted = {"filter": "api == 'Produce'", "timeout_ms": 5000}
        (passed,) = server.of(test, "wait_for", wanted).json["exchanges"]
    assert passed["error"] == ""
    assert passed["user"].startswith("CN=maker,")
