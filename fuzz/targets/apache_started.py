"""What is still to be done once a broker of Apache Kafka has started, by its plain listener: to see whether
each setting is one, and to make a user for SASL."""

from __future__ import annotations

import time
from typing import Any, Final

from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.targets.apache_settings import ApacheSettings
from barnabas.fuzz.targets.probing import Prober, Unanswered
from barnabas.nearest import nearest
from barnabas.peers.apache.sasl import scram_users
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs.keys import ALTER_USER_SCRAM_CREDENTIALS, DESCRIBE_CONFIGS

KNOWN_S: Final = 15.0
"""Seconds until a new user is known: brokers hear of it a moment later."""

PAUSE_S: Final = 0.05

_TYPES_SINCE: Final = 3
"""The version of DescribeConfigs that tells the type of a setting (Kafka 2.6); 0: none such is known."""

_BROKER: Final = 4
"""The type of a resource."""

_SLIP: Final = 0.9
"""So much an unknown setting is like a known one where it is a slip: plugins have settings of their own."""


def known_or_raise(address: tuple[str, int], settings: ApacheSettings) -> None:
    """A broker takes any setting, and does nothing with one that nobody knows. Raises CannotRun for what may
    be a slip, where the release tells."""
    if not settings.settings:
        return
    prober = Prober()
    prober.aim(address)
    try:
        if prober.offered().get(DESCRIBE_CONFIGS, (0, 0))[1] < _TYPES_SINCE:
            return
        all_ = {"resource_type": _BROKER, "resource_name": "1", "configuration_keys": None}
        about = {"resources": [all_], "include_synonyms": False, "include_documentation": False}
        (told,) = prober.ask(DESCRIBE_CONFIGS, _TYPES_SINCE, about)["results"]
    except Unanswered as problem:
        raise CannotRun(f"Kafka {settings.version} does not tell its settings: {problem}") from None
    finally:
        prober.close()
    types = {one["name"]: one["config_type"] for one in told["configs"]}
    known = [name for name, type_ in types.items() if type_]
    for name in settings.settings:
        meant = nearest(name, known, _SLIP) if types.get(name) == 0 else None
        if meant is not None:
            raise CannotRun(
                f"Kafka {settings.version} knows no setting {name!r}; did you mean {meant!r}?"
            )


def make_user(plain: tuple[str, int], sasl: tuple[str, int], who: Credentials) -> None:
    """Make the user of SCRAM, where the release can, and wait until a login is taken. Raises CannotRun."""
    administrator, prober = Prober(), Prober(who=who)
    administrator.aim(plain)
    prober.aim(sasl)
    try:
        made: tuple[dict[str, Any], ...] = ()
        if ALTER_USER_SCRAM_CREDENTIALS in administrator.offered():
            made = scram_users(who.username, who.password)
        for users in made:
            (told,) = administrator.ask(ALTER_USER_SCRAM_CREDENTIALS, 0, users)["results"]
            if told["error_code"]:
                raise CannotRun(f"the broker takes no user of SCRAM: {told['error_message']}")
        deadline = time.monotonic() + KNOWN_S
        while not (probe := prober.probe()).answered:
            if time.monotonic() > deadline:
                raise CannotRun(f"the broker takes no login by {who.mechanism}: {probe.problem}")
            time.sleep(PAUSE_S)
    except Unanswered as problem:
        raise CannotRun(f"the broker takes no user of SCRAM: {problem}") from None
    finally:
        administrator.close()
        prober.close()
