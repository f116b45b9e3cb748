"""A program to explore: it sends five records with confluent-kafka, one way or another.

    explored.py HOW     with BARNABAS_BOOTSTRAP, BARNABAS_HISTORY and BARNABAS_RUN

HOW: `careful` (idempotent), `again` (sends again what may be there), `hasty` (says that it is written
before it is, and does not send again), `silent` (careful, without a history).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from experiments.explore.history import Acknowledged, Sent, Writer

SETTINGS: dict[str, dict[str, Any]] = {
    "careful": {"enable.idempotence": True},
    "silent": {"enable.idempotence": True},
    "again": {"enable.idempotence": False, "acks": 1},
    "hasty": {"enable.idempotence": False, "retries": 0},
}


def main() -> None:
    how, topic = sys.argv[1], f"orders-{os.environ['BARNABAS_RUN']}"
    path = os.devnull if how == "silent" else os.environ["BARNABAS_HISTORY"]
    history = Writer(Path(path))
    producer = Producer(
        {
            "bootstrap.servers": os.environ["BARNABAS_BOOTSTRAP"],
            "client.id": how,
            "linger.ms": 5,
            "message.timeout.ms": 20_000,
            "reconnect.backoff.ms": 10,
            "log_level": 0,
            **SETTINGS[how],
        }
    )

    def told(error: Any, message: Any) -> None:
        if error is None and how != "hasty":
            name = message.value().decode()
            history.write(Acknowledged(id=name, topic=topic))

    for number in range(5):
        name = f"r{number}"
        history.write(Sent(id=name, topic=topic))
        producer.produce(topic, name, partition=0, on_delivery=told)
        if how == "hasty":
            history.write(Acknowledged(id=name, topic=topic))
    sys.exit("not all was acknowledged" if producer.flush(20) else 0)


if __name__ == "__main__":
    main()
