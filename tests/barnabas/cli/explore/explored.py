"""A program to explore: it sends five records with confluent-kafka, one way or another.

    explored.py HOW     with BARNABAS_BOOTSTRAP, BARNABAS_HISTORY and BARNABAS_RUN

HOW: `careful` (idempotent), `again` (sends again what may be there), `hasty` (says that it is written
before it is, and does not send again), `boasting` (says that one more is written), `silent` (careful,
without a history). It imports none of our code: a history is lines of JSON.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

SETTINGS: dict[str, dict[str, Any]] = {
    "careful": {"enable.idempotence": True},
    "boasting": {"enable.idempotence": True},
    "silent": {"enable.idempotence": True},
    "again": {"enable.idempotence": False, "acks": 1},
    "hasty": {"enable.idempotence": False, "retries": 0},
}


def main() -> None:
    how, topic = sys.argv[1], f"orders-{os.environ['BARNABAS_RUN']}"
    path = os.devnull if how == "silent" else os.environ["BARNABAS_HISTORY"]
    history = Path(path).open("a", buffering=1)  # noqa: SIM115 - as long as we run

    def tell(event: str, name: str) -> None:
        history.write(json.dumps({"event": event, "id": name, "topic": topic}) + "\n")

    producer = Producer(
        {
            "bootstrap.servers": os.environ["BARNABAS_BOOTSTRAP"],
            "client.id": how,
            "linger.ms": 10_000,  # or until the flush: however slowly this runs, it is one request
            "message.timeout.ms": 60_000,
            "reconnect.backoff.ms": 10,
            "log_level": 0,
            **SETTINGS[how],
        }
    )

    def told(error: Any, message: Any) -> None:
        if error is None and how != "hasty":
            tell("acknowledged", message.value().decode())

    for number in range(5):
        name = f"r{number}"
        tell("sent", name)
        producer.produce(topic, name, partition=0, on_delivery=told)
        if how == "hasty":
            tell("acknowledged", name)
    if how == "boasting":
        tell("sent", "r5")
        tell("acknowledged", "r5")
    sys.exit("not all was acknowledged" if producer.flush(20) else 0)


if __name__ == "__main__":
    main()
