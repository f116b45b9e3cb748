"""SASL over TLS on real Apache Kafka, through a proxy that speaks TLS on both sides."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
        information = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
        user = UserScramCredentialUpsertion(
            "bob", information, SCRAM_PASSWORD.encode(), b"salt" * 5
        )
        topics = [NewTopic(name, 3, 3) for name in ("alice", "bob")]
        for done in (
            *admin.alter_user_scram_credentials([user]).values(),
            *admin.create_topics(topics).values(),
        ):
            done.result(SOON)
    altered = [one for one in plain.exchanges if one["api"] == "AlterUserScramCredentials"]
    assert altered[0]["request"]["upsertions"][0]["salted_password"].startswith("<redacted")
    assert b"salt" * 5 not in made.read_bytes()


def bob(bootstrap: str, ca: Path, password: str = SCRAM_PASSWORD) -> dict[str, Any]:
    """librdkafka's configuration; it authenticates again before a session is over (KIP-368)."""
    return {
        "bootstrap.servers": bootstrap,
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": str(ca),
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": "bob",
        "sasl.password": password,
        "client.id": "bob",
    }


def alice(bootstrap: str, ca: Path) -> dict[str, Any]:
    """aiokafka's; its connections are closed when a session is over, and it comes again."""
    return {
        "bootstrap_servers": bootstrap,
        "security_protocol": "SASL_SSL",
        "ssl_context": ssl.create_default_context(cafile=ca),
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "alice",
        "sasl_plain_password": PASSWORD,
        "client_id": "alice",
    }


class Load:
    """Two clients that each produce to a topic and consume it, until told to end."""

    def __init__(self, proxy: ProxyProcess) -> None:
        self.acknowledged: dict[str, list[bytes]] = {"alice": [], "bob": []}
        self.consumed: dict[str, set[bytes]] = {"alice": set(), "bob": set()}
        self.problems: list[str] = []
        """What ended a client, with the place."""
        self._proxy = proxy
        self._produced = threading.Event()
        self._over = threading.Event()
        works = (self._alice_sends, self._alice_reads, self._bob_sends, self._bob_reads)
        self._threads = [threading.Thread(target=self._run, args=(work,)) for work in works]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._produced.set()
        self._over.set()
        for thread in self._threads:
            thread.join(SOON)

    def all_there(self) -> bool:
        """Whether all that was acknowledged was consumed; no more is produced from here on."""
        self._produced.set()
        return all(set(sent) <= self.consumed[user] for user, sent in self.acknowledged.items())

    def _run(self, work: Any) -> None:
        try:
            work()
        except BaseException:  # noqa: BLE001 - shown by the test
            self.problems.append(traceback.format_exc())

    def _bob_sends(self) -> None:
        producer = Producer(bob(self._proxy.bootstrap, self._proxy.ca) | {"acks": "all"})
        sent = self.acknowledged["bob"]
        number = 0
        while not self._produced.wait(0.05):
            producer.produce(
                "bob",
                b"bob %d" % number,
                callback=lambda problem, message: None if problem else sent.append(message.value()),
            )
            producer.poll(0)
            number += 1
        producer.flush(SOON)

    def _bob_reads(self) -> None:
        group = {"group.id": "bob", "auto.offset.reset": "earliest"}
        consumer = Consumer(bob(self._proxy.bootstrap, self._proxy.ca) | group)
        consumer.subscribe(["bob"])
        while not self._over.is_set():
            message = consumer.poll(0.2)
            if message is not None and message.error() is None:
                self.consumed["bob"].add(message.value())
        consumer.close()

    def _alice_sends(self) -> None:
        asyncio.run(self._sends())

    async def _sends(self) -> None:
        configuration = alice(self._proxy.bootstrap, self._proxy.ca)
        sent = self.acknowledged["alice"]
        number = 0
        async with AIOKafkaProducer(
            acks="all", enable_idempotence=True, **configuration
        ) as producer:
            while not self._produced.is_set():
                value = b"alice %d" % number
                await producer.send_and_wait("alice", value)
                sent.append(value)
                number += 1
                await asyncio.sleep(0.05)

    def _alice_reads(self) -> None:
        asyncio.run(self._reads())

    async def _reads(self) -> None:
        configuration = alice(self._proxy.bootstrap, self._proxy.ca)
        group = {"group_id": "alice", "auto_offset_reset": "earliest"}
        async with AIOKafkaConsumer("alice", **group, **configuration) as consumer:
            while not self._over.is_set():
                for messages in (await consumer.getmany(timeout_ms=200)).values():
                    self.consumed["alice"].update(message.value for message in messages)


@pytest.mark.timeout(300)  # with three brokers to start, and each to start again
@pytest.mark.usefixtures("users")
def test_sessions_are_renewed_and_brokers_restarted_under_load(
    cluster: ApacheCluster, proxy: ProxyProcess, folder: Path
) -> None:
    with Load(proxy) as load:
        until(lambda: all(map(len, load.consumed.values())) or load.problems, "the first records")
        time.sleep(LASTS)
        for node in cluster.nodes:
            cluster.stop(node)
            cluster.start(node)
        counts = {user: len(sent) for user, sent in load.acknowledged.items()}
        until(
            lambda: all(len(sent) > counts[user] for user, sent in load.acknowledged.items()),
            "records after the restarts",
        )
        until(load.all_there, "all that was acknowledged")
    assert not load.problems
    assert all(len(sent) > 100 for sent in load.acknowledged.values())

    said = {one["sasl"] for one in proxy.exchanges if one["api"] == "SaslAuthenticate"}
    assert {
        "PLAIN alice → authenticated for 10 s",
        "SCRAM-SHA-256 bob → challenge",
        "SCRAM-SHA-256 bob → authenticated for 10 s",
        "SCRAM-SHA-256 bob → authenticated again for 10 s",
    } <= said
    no_password_is_in_log_and_capture(proxy, folder)


def no_password_is_in_log_and_capture(proxy: ProxyProcess, folder: Path) -> None:
    capture = (folder / "run.pcapng").read_bytes()
    log = "".join(proxy.lines)
    assert len(capture) > 100_000
    for secret in (PASSWORD, SCRAM_PASSWORD, "n=bob"):
        assert secret.encode() not in capture
        assert secret not in log
    command = [sys.executable, "-m", "barnabas", "decode", str(folder / "run.pcapng")]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert "SCRAM-SHA-256 bob → authenticated again for 10 s" in shown


def refusal(bootstrap: str, ca: Path) -> str:
    """What librdkafka says of a wrong password, without addresses and times."""
    said: list[str] = []
    configuration = bob(bootstrap, ca, "wrong") | {"sasl.mechanism": "PLAIN"}
    admin = AdminClient(configuration, error_cb=lambda problem: said.append(problem.str()))
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
    until(
        lambda: any(
            "refused: Authentication failed" in one.get("sasl", "") for one in proxy.exchanges
        ),
        "the refusal in the log",
    )


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
    until(lambda: "TLS with the client failed: tlsv1 alert unknown ca" in proxy.said, "who is it")
    attempt(proxy.bootstrap, None)
    until(
        lambda: "TLS with the client failed: the peer speaks plain text, not TLS" in proxy.said,
        "plain text",
    )

    with proxy_process(secured(cluster), folder, "--broker-ca", f"{folder}/stranger.pem") as it:
        assert attempt(it.bootstrap, None) == b""
        until(lambda: "TLS to the broker failed: certificate verify failed" in it.said, "the CA")
    with proxy_process(cluster.bootstrap, folder, "--broker-ca", f"{folder}/brokers.pem") as it:
        assert attempt(it.bootstrap, None) == b""
        until(
            lambda: "TLS to the broker failed: the peer closed the connection; perhaps" in it.said,
            "a broker without TLS",
        )
    with proxy_process(secured(cluster), folder) as it:
        with pytest.raises(OSError):
            attempt(it.bootstrap, stranger)
        until(lambda: "speaks TLS, not Kafka in plain text" in it.said, "a client with TLS")
    # all of that has cost the proxy nothing
    admin = AdminClient(bob(proxy.bootstrap, proxy.ca))
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
        listen = ("--listen", f"127.0.0.1:{port}")
        with proxy_process(
            f"127.0.0.2:{port}", folder, *listen, "--tls-passthrough"
        ) as passthrough:
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
