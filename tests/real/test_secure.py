"""SASL over TLS on real Apache Kafka, through a proxy that speaks TLS on both sides."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
import trustme
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import (
    AdminClient,
    NewTopic,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from barnabas.peers.apache import ApacheCluster
from tests.barnabas.cli.command import run
from tests.real.load import Group, Sender
from tests.real.process import ProxyProcess
from tests.real.secured import PASSWORD, SCRAM_PASSWORD, secured, settings
from tests.waiting import SOON, until

pytestmark = pytest.mark.needs_apache("3.9.1")

LASTS = 12.0
"""Seconds before the first broker is restarted: more than a session of 10 s."""


def proxy_process(bootstrap: str, folder: Path, *options: str) -> ProxyProcess:
    return ProxyProcess(bootstrap, "--log", "json", *options, data=folder / "data")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("secure")


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[ApacheCluster]:
    ca = trustme.CA()
    ca.cert_pem.write_to_path(str(folder / "brokers.pem"))
    trustme.CA().cert_pem.write_to_path(str(folder / "stranger.pem"))
    with ApacheCluster("3.9.1", 3, settings=settings(ca), timeout=60) as running:
        yield running


@pytest.fixture(scope="module")
def proxy(cluster: ApacheCluster, folder: Path) -> Iterator[ProxyProcess]:
    options = ("--broker-ca", str(folder / "brokers.pem"), "--client-tls")
    capture = ("--capture", str(folder / "run.pcapng"))
    with proxy_process(secured(cluster), folder, *options, *capture) as running:
        yield running


@pytest.fixture(scope="module")
def users(cluster: ApacheCluster, folder: Path) -> None:
    """The user bob, and a topic for each user. What makes them is captured, too, and shows no secret."""
    made = folder / "made.pcapng"
    with proxy_process(cluster.bootstrap, folder, "--capture", str(made)) as plain:
        admin = AdminClient({"bootstrap.servers": plain.bootstrap})
        scram = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
        user = UserScramCredentialUpsertion("bob", scram, SCRAM_PASSWORD.encode(), b"salt" * 5)
        topics = [NewTopic(name, 3, 3) for name in ("alice", "bob")]
        for done in (
            *admin.alter_user_scram_credentials([user]).values(),
            *admin.create_topics(topics).values(),
        ):
            done.result(SOON)
    altered = [one for one in plain.exchanges if one["api"] == "AlterUserScramCredentials"]
    assert altered[0]["request"]["upsertions"][0]["salted_password"].startswith("<redacted")
    assert b"salt" * 5 not in made.read_bytes()


def bob(ca: Path, password: str = SCRAM_PASSWORD, **more: str) -> dict[str, Any]:
    """librdkafka's configuration; it authenticates again before a session is over (KIP-368)."""
    return {
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": str(ca),
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": "bob",
        "sasl.password": password,
        "client.id": "bob",
        **more,
    }


class Alice(threading.Thread):
    """aiokafka's producer and consumer; their connections end with a session, and they come again."""

    def __init__(self, bootstrap: str, ca: Path) -> None:
        super().__init__()
        self.acknowledged: list[bytes] = []
        self.consumed: set[bytes] = set()
        self.problem = ""
        """What ended it, with the place."""
        self.produced = threading.Event()
        self._over = threading.Event()
        self._settings: dict[str, Any] = {
            "bootstrap_servers": bootstrap,
            "security_protocol": "SASL_SSL",
            "ssl_context": ssl.create_default_context(cafile=ca),
            "sasl_mechanism": "PLAIN",
            "sasl_plain_username": "alice",
            "sasl_plain_password": PASSWORD,
            "client_id": "alice",
        }

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.produced.set()
        self._over.set()
        self.join(SOON)

    def run(self) -> None:
        try:
            asyncio.run(self._work())
        except BaseException:  # noqa: BLE001 - shown by the test
            self.problem = traceback.format_exc()

    async def _work(self) -> None:
        await asyncio.gather(self._send(), self._read())

    async def _send(self) -> None:
        own = {"acks": "all", "enable_idempotence": True, **self._settings}
        async with AIOKafkaProducer(**own) as producer:
            while not self.produced.is_set():
                value = b"alice %d" % len(self.acknowledged)
                await producer.send_and_wait("alice", value)
                self.acknowledged.append(value)
                await asyncio.sleep(0.05)

    async def _read(self) -> None:
        group = {"group_id": "alice", "auto_offset_reset": "earliest", **self._settings}
        async with AIOKafkaConsumer("alice", **group) as consumer:
            while not self._over.is_set():
                for messages in (await consumer.getmany(timeout_ms=200)).values():
                    self.consumed.update(message.value for message in messages)


@pytest.mark.timeout(300)  # with three brokers to start, and each to start again
@pytest.mark.usefixtures("users")
def test_sessions_are_renewed_and_brokers_restarted_under_load(
    cluster: ApacheCluster, proxy: ProxyProcess, folder: Path
) -> None:
    own = bob(proxy.ca)
    with (
        Group(proxy.bootstrap, "bob", **own) as group,
        Alice(proxy.bootstrap, proxy.ca) as alice,
    ):
        with Sender(proxy.bootstrap, "bob", 3, **own) as sender:
            until(lambda: (group.received and alice.consumed) or alice.problem, "the first records")
            time.sleep(LASTS)
            for node in cluster.nodes:
                cluster.stop(node)
                cluster.start(node)
            ours, others = len(sender.acknowledged), len(alice.acknowledged)
            until(
                lambda: len(sender.acknowledged) > ours and len(alice.acknowledged) > others,
                "records after the restarts",
            )
        alice.produced.set()
        until(lambda: group.received >= set(sender.acknowledged), "all of bob's")
        until(lambda: alice.consumed >= set(alice.acknowledged), "all of alice's")
    assert not sender.failed
    assert not alice.problem
    assert min(len(sender.acknowledged), len(alice.acknowledged)) > 100

    said = {one["sasl"] for one in proxy.exchanges if one["api"] == "SaslAuthenticate"}
    assert {
        "PLAIN alice → authenticated for 10 s",
        "SCRAM-SHA-256 bob → challenge",
        "SCRAM-SHA-256 bob → authenticated for 10 s",
        "SCRAM-SHA-256 bob → authenticated again for 10 s",
    } <= said
    capture = (folder / "run.pcapng").read_bytes()
    assert len(capture) > 100_000
    for secret in (PASSWORD, SCRAM_PASSWORD, "n=bob"):
        assert secret.encode() not in capture
        assert secret not in "".join(proxy.lines)
    decoded = run("decode", folder / "run.pcapng").stdout
    assert "SCRAM-SHA-256 bob → authenticated again for 10 s" in decoded


def refusal(bootstrap: str, ca: Path) -> str:
    """What librdkafka says of a wrong password, without addresses and times."""
    said: list[str] = []
    own = bob(ca, "wrong", **{"bootstrap.servers": bootstrap, "sasl.mechanism": "PLAIN"})
    admin = AdminClient(own, error_cb=lambda problem: said.append(problem.str()))
    until(lambda: admin.poll(0.1) is not None and said, "an error")
    text = next(line for line in said if "uthenticat" in line)
    return re.sub(r"\S*127\.0\.0\.1:\d+\S*|\(after .*\)", "", text).strip()


def test_a_wrong_password_is_the_brokers_to_refuse(
    cluster: ApacheCluster, proxy: ProxyProcess, folder: Path
) -> None:
    direct = refusal(secured(cluster), folder / "brokers.pem")
    through = refusal(proxy.bootstrap, proxy.ca)
    assert "Authentication failed: Invalid username or password" in direct
    assert through == direct
    refused = "refused: Authentication failed"
    until(lambda: any(refused in one.get("sasl", "") for one in proxy.exchanges), "in the log")


def attempt(bootstrap: str, context: ssl.SSLContext | None) -> bytes:
    """Speak TLS or plain text to a proxy, and what comes back until it closes the connection."""
    host, port = bootstrap.split(":")
    with socket.create_connection((host, int(port)), SOON) as sock:
        if context is None:
            sock.sendall(bytes.fromhex("0000000f 0012 0000 00000001 0005") + b"plain")
            try:
                return sock.recv(100)
            except ConnectionError:
                return b""
        with context.wrap_socket(sock, server_hostname=host) as tls:
            tls.sendall(b"never")
            return tls.recv(100)


@pytest.mark.usefixtures("users")
def test_broken_tls_costs_its_connection_and_is_said(
    cluster: ApacheCluster, proxy: ProxyProcess, folder: Path
) -> None:
    stranger = ssl.create_default_context(cafile=folder / "stranger.pem")
    with pytest.raises(ssl.SSLCertVerificationError):
        attempt(proxy.bootstrap, stranger)
    proxy.until_said("TLS with the client failed: tlsv1 alert unknown ca")
    attempt(proxy.bootstrap, None)
    proxy.until_said("TLS with the client failed: the peer speaks plain text, not TLS")

    for broker, trusted, words in (
        (secured(cluster), "stranger.pem", "certificate verify failed"),
        (cluster.bootstrap, "brokers.pem", "the peer closed the connection; perhaps"),
    ):
        with proxy_process(broker, folder, "--broker-ca", str(folder / trusted)) as it:
            assert attempt(it.bootstrap, None) == b""
            it.until_said(f"TLS to the broker failed: {words}")
    with proxy_process(secured(cluster), folder) as it:
        with pytest.raises(OSError):
            attempt(it.bootstrap, stranger)
        it.until_said("speaks TLS, not Kafka in plain text")
    # all of that has cost the proxy nothing
    admin = AdminClient(bob(proxy.ca, **{"bootstrap.servers": proxy.bootstrap}))
    assert len(admin.list_topics(timeout=SOON).brokers) == 3


def test_tls_that_passes_untouched(folder: Path) -> None:
    """The broker tells its clients the proxy's listener as its own address."""
    ca = trustme.CA()
    ca.cert_pem.write_to_path(str(folder / "untouched.pem"))
    plain, secure = "PLAINTEXT://127.0.0.1:{port}", "SSL://{host}:{{spare_port}}"
    own = {
        "listeners": f"{plain},CONTROLLER://127.0.0.1:{{controller_port}},"
        + secure.format(host="127.0.0.2"),
        "advertised.listeners": f"{plain},{secure.format(host='127.0.0.1')}",
    }
    with ApacheCluster("3.9.1", settings=settings(ca) | own) as cluster:
        port = cluster.nodes[1].node.spare_port
        passing = ("--listen", f"127.0.0.1:{port}", "--tls-passthrough")
        with proxy_process(f"127.0.0.2:{port}", folder, *passing) as passthrough:
            client = {
                "bootstrap.servers": passthrough.bootstrap,
                "security.protocol": "SSL",
                "ssl.ca.location": str(folder / "untouched.pem"),
            }
            producer = Producer(client | {"acks": "all"})
            producer.produce("untouched", b"value")
            assert producer.flush(SOON) == 0
            found = producer.list_topics(timeout=SOON)
            assert {(one.host, one.port) for one in found.brokers.values()} == {("127.0.0.1", port)}
            consumer = Consumer(client | {"group.id": "g", "auto.offset.reset": "earliest"})
            consumer.subscribe(["untouched"])
            message = consumer.poll(SOON)
            assert message is not None
            assert message.value() == b"value"
            consumer.close()
        assert not passthrough.exchanges
        assert "advertised.listeners must be" in passthrough.said
