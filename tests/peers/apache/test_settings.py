from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from barnabas.peers.apache.sasl import sasl_plaintext, scram_users
from barnabas.peers.apache.setting_names import setting_names
from barnabas.peers.apache.settings import Node, Plan, properties, server_properties, zoo_cfg
from barnabas.peers.apache.versions import RELEASES, Mode, Release, release

CASES = [
    pytest.param(known, mode, id=f"{known.version}-{mode}")
    for known in RELEASES
    for mode in known.modes
]


def plan_of(known: Release, mode: Mode, nodes: int = 1) -> Plan:
    all_nodes = tuple(
        Node(i, 1000 + i, 2000 + i, 3000 + i, Path(f"/tmp/b{i}")) for i in range(1, nodes + 1)
    )
    return Plan(known, mode, all_nodes, "Y2x1c3Rlci1pZC1hYmNkZQ", 2181)


def parsed(text: str) -> dict[str, str]:
    pairs = [line.partition("=")[::2] for line in text.splitlines()]
    assert len({key for key, _ in pairs}) == len(pairs)
    return dict(pairs)


def told(plan: Plan, node: int = 1) -> dict[str, str]:
    return parsed(server_properties(plan, plan.nodes[node - 1]))


SMALL = {
    "log.dirs": "/tmp/b1/data", "num.network.threads": "1", "num.io.threads": "2", "background.threads": "1",
    "num.partitions": "1", "offsets.topic.replication.factor": "1", "offsets.topic.num.partitions": "1",
    "log.cleaner.dedupe.buffer.size": "2097152", "controlled.shutdown.enable": "false",
}  # fmt: skip
LISTENER = {"advertised.listeners": "PLAINTEXT://127.0.0.1:1002"}
KEEPER = {"broker.id": "2", "zookeeper.connect": "127.0.0.1:2181"}
OF_KRAFT = {
    **LISTENER, "process.roles": "broker,controller", "node.id": "2",
    "controller.quorum.voters": "1@127.0.0.1:2001,2@127.0.0.1:2002,3@127.0.0.1:2003",
    "listeners": "PLAINTEXT://127.0.0.1:1002,CONTROLLER://127.0.0.1:2002",
    "controller.listener.names": "CONTROLLER",
}  # fmt: skip
SINCE_0_9 = {**LISTENER, **KEEPER, "listeners": "PLAINTEXT://127.0.0.1:1002"}
BEFORE_0_9 = {
    **KEEPER, "host.name": "127.0.0.1", "port": "1002",
    "advertised.host.name": "127.0.0.1", "advertised.port": "1002",
}  # fmt: skip


@pytest.mark.parametrize(("known", "mode"), CASES)
def test_every_version_is_told_to_be_small_and_on_loopback(known: Release, mode: Mode) -> None:
    settings = told(plan_of(known, mode))
    assert settings.items() >= SMALL.items()
    assert "0.0.0.0" not in str(settings)


@pytest.mark.parametrize(("known", "mode"), CASES)
def test_the_port_and_the_metadata_are_told_in_the_words_of_the_version(
    known: Release, mode: Mode
) -> None:
    words = OF_KRAFT if mode is Mode.KRAFT else SINCE_0_9 if known.number >= (0, 9) else BEFORE_0_9
    settings = told(plan_of(known, mode, 3), 2)
    assert settings.items() >= words.items()
    assert not (OF_KRAFT | SINCE_0_9 | BEFORE_0_9).keys() - words.keys() & settings.keys()


@pytest.mark.parametrize(("known", "mode"), CASES)
@pytest.mark.parametrize(
    ("nodes", "copies", "in_sync"), [(1, "1", "1"), (2, "2", "2"), (3, "3", "2")]
)
def test_internal_topics_are_on_as_many_brokers_as_there_are(
    known: Release, mode: Mode, nodes: int, copies: str, in_sync: str
) -> None:
    settings = told(plan_of(known, mode, nodes))
    transactions = {
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": in_sync,
        "transaction.state.log.num.partitions": "1",
        "group.initial.rebalance.delay.ms": "0",
    }
    share = {
        "share.coordinator.state.topic.replication.factor": copies,
        "share.coordinator.state.topic.min.isr": in_sync,
        "share.coordinator.state.topic.num.partitions": "1",
    }
    wanted = {"offsets.topic.replication.factor": copies, "default.replication.factor": copies}
    for since, names in (((0, 11), transactions), ((4,), share)):
        if known.number >= since:
            wanted |= names
        else:
            assert not names.keys() & settings.keys()
    assert settings.items() >= wanted.items()


def test_a_callers_settings_come_last_and_know_the_node() -> None:
    plan = plan_of(release("3.9.1"), Mode.KRAFT, 2)
    extra = {
        "num.partitions": "6",
        "broker.rack": "r{id}",
        "listeners": "PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port},"
        "SASL_SSL://127.0.0.1:{spare_port}",
        "controlled.shutdown.enable": "",
        "untouched": "{other}",
    }
    settings = parsed(server_properties(plan, plan.nodes[1], extra))
    assert "controlled.shutdown.enable" not in settings
    listeners = "PLAINTEXT://127.0.0.1:1002,CONTROLLER://127.0.0.1:2002,SASL_SSL://127.0.0.1:3002"
    own = {"num.partitions": "6", "broker.rack": "r2", "untouched": "{other}"}
    assert settings.items() >= {**own, "listeners": listeners}.items()


def test_all_protocols_have_a_listener_name_in_kraft() -> None:
    # a map of one's own takes the place of Kafka's, which has all four
    names = told(plan_of(release("4.3.1"), Mode.KRAFT))["listener.security.protocol.map"].split(",")
    protocols = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
    assert set(names) == {"CONTROLLER:PLAINTEXT", *(f"{one}:{one}" for one in protocols)}


def test_zookeeper_listens_on_loopback_for_any_number_of_clients() -> None:
    assert parsed(zoo_cfg(plan_of(release("2.8.0"), Mode.ZOOKEEPER), Path("/tmp/z"))) == {
        "tickTime": "500", "dataDir": "/tmp/z", "clientPort": "2181", "clientPortAddress": "127.0.0.1",
        "maxClientCnxns": "0", "admin.enableServer": "false", "4lw.commands.whitelist": "dump,ruok",
    }  # fmt: skip


@pytest.mark.parametrize(("value", "written"), [
    ("plain=fine: #!", "plain=fine: #!"),
    ("a\\b", "a\\\\b"),
    ("two\nlines\r", "two\\nlines\\r"),
    (" in front", "\\ in front"),
    ("€😀", "\\u20ac\\ud83d\\ude00"),
])  # fmt: skip
def test_values_are_escaped_as_java_reads_them(value: str, written: str) -> None:
    assert properties({"k": value}) == f"k={written}\n"


def test_a_release_without_a_list_names_none() -> None:
    assert setting_names("0.8.2.2") == frozenset()


@pytest.mark.needs_apache("4.3.1")
def test_internal_settings_are_among_them() -> None:
    names = setting_names("4.3.1")
    assert {"num.io.threads", "unstable.api.versions.enable"} <= names
    assert all(name.count("\n") == 0 and "." in name for name in names if name != "listeners")


def test_only_brokers_that_have_a_controller_listen_for_one() -> None:
    for mode in Mode:
        found = sasl_plaintext(mode, "u", "p")
        assert ("CONTROLLER" in found["listeners"]) == (mode is Mode.KRAFT)
        assert "SASL_PLAINTEXT://127.0.0.1:{spare_port}" in found["listeners"]
        assert "CONTROLLER" not in found["advertised.listeners"]


def test_a_user_of_scram_is_one_whom_its_password_lets_in() -> None:
    """RFC 5802: its Hi() is PBKDF2."""
    for body in scram_users("u", "secret"):
        (made,) = body["upsertions"]
        how = {1: "sha256", 2: "sha512"}[made["mechanism"]]
        hashed = hashlib.pbkdf2_hmac(how, b"secret", made["salt"], made["iterations"])
        assert made["salted_password"] == hashed
