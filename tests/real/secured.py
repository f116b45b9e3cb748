"""A cluster of Apache Kafka that speaks SASL over TLS."""

from __future__ import annotations

from typing import Final

import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from barnabas.peers.apache import ApacheCluster

PASSWORD: Final = "plain-hunter2-alice"
SCRAM_PASSWORD: Final = "scram-hunter2-bob"
REAUTHENTICATION_MS: Final = 10_000

_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


def settings(ca: trustme.CA) -> dict[str, str]:
    """Of brokers with one more listener, SASL_SSL on the spare port, as 127.0.0.1 by this CA."""
    leaf = ca.issue_cert("127.0.0.1")
    key = load_pem_private_key(leaf.private_key_pem.bytes(), None)
    pkcs8 = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    plain, secured = "PLAINTEXT://127.0.0.1:{port}", "SASL_SSL://127.0.0.1:{spare_port}"
    scope = "listener.name.sasl_ssl"
    return {
        "listeners": f"{plain},CONTROLLER://127.0.0.1:{{controller_port}},{secured}",
        "advertised.listeners": f"{plain},{secured}",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
        f"{scope}.plain.sasl.jaas.config": f'{_PLAIN} required user_alice="{PASSWORD}";',
        f"{scope}.scram-sha-256.sasl.jaas.config": f"{_SCRAM} required;",
        "connections.max.reauth.ms": str(REAUTHENTICATION_MS),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": leaf.cert_chain_pems[0].bytes().decode(),
        "ssl.keystore.key": pkcs8.decode(),
    }


def secured(cluster: ApacheCluster) -> str:
    """The bootstrap servers of the SASL_SSL listeners."""
    return ",".join(f"127.0.0.1:{broker.node.spare_port}" for broker in cluster.nodes.values())
