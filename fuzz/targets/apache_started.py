"""What is still to be done once a broker of Apache Kafka has started, by its plain listener: to make a user
for SASL."""

from __future__ import annotations

import time
from typing import Any, Final

from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.targets.probing import Prober, Unanswered
from barnabas.peers.apache.sasl import scram_users
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs.keys import ALTER_USER_SCRAM_CREDENTIALS

KNOWN_S: Final = 15.0
"""Seconds until a new user is known: brokers hear of it a moment later."""

PAUSE_S: Final = 0.05


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
