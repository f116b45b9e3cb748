"""A listener with SASL in addition to the plain one: PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512.

Pure functions. Sources: KafkaConfig; KIP-226 for a listener's own login modules; KIP-554 for users of SCRAM,
which are created in the running cluster.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

from barnabas.peers.apache.settings import HOST
from barnabas.peers.apache.versions import Mode

SINCE: Final = (1, 1)
"""The first release that takes a listener's login modules from its settings."""

_MODULES: Final = "org.apache.kafka.common.security"
_SCRAM: Final = ((1, "scram-sha-256", "sha256"), (2, "scram-sha-512", "sha512"))
"""The number of a mechanism in AlterUserScramCredentials, its name in settings, its hash."""

_ITERATIONS: Final = 4096
"""The fewest that Kafka takes."""


def sasl_plaintext(mode: Mode, username: str, password: str) -> dict[str, str]:
    """Return broker settings for a SASL_PLAINTEXT listener on the spare port, with a user of PLAIN.

    SCRAM users are created in the cluster (`scram_users`).
    """
    plain, sasl = f"PLAINTEXT://{HOST}:{{port}}", f"SASL_PLAINTEXT://{HOST}:{{spare_port}}"
    controller = f",CONTROLLER://{HOST}:{{controller_port}}" if mode is Mode.KRAFT else ""
    scope = "listener.name.sasl_plaintext"
    users = f'username="{username}" password="{password}" user_{username}="{password}"'
    return {
        "listeners": f"{plain}{controller},{sasl}",
        "advertised.listeners": f"{plain},{sasl}",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        f"{scope}.plain.sasl.jaas.config": f"{_MODULES}.plain.PlainLoginModule required {users};",
        **{
            f"{scope}.{name}.sasl.jaas.config": f"{_MODULES}.scram.ScramLoginModule required;"
            for _, name, _ in _SCRAM
        },
    }


def scram_users(username: str, password: str) -> tuple[dict[str, Any], ...]:
    """Return the AlterUserScramCredentials requests (v0) that create a user of both SCRAM mechanisms.

    There is a request for each mechanism, since no request may name a user twice.
    """
    salt = b"of barnabas, the same each time"
    return tuple(
        {
            "deletions": [],
            "upsertions": [
                {
                    "name": username,
                    "mechanism": number,
                    "iterations": _ITERATIONS,
                    "salt": salt,
                    "salted_password": hashlib.pbkdf2_hmac(
                        algorithm, password.encode(), salt, _ITERATIONS
                    ),
                }
            ],
        }
        for number, _, algorithm in _SCRAM
    )
