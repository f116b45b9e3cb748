"""A server of tests in a process of its own, and how it is asked."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Producer

from barnabas.api_version import PREFIX
from tests.answer import Answer
from tests.page.browser import barnabas

BUSY_TWICE = """
version: 1
rules:
  - name: the leader has moved
    match: {api: Produce, direction: request}
    when: {times: 2, scope: rule}
    do: {respond: {error: NOT_LEADER_OR_FOLLOWER}}
"""


@dataclass(frozen=True)
class Server:
    """Where it is asked."""

    address: str
    token: str

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Send a request; bytes and text are sent as they are, everything else as JSON."""
        connection = http.client.HTTPConnection(self.address, timeout=30)
        sent = body if body is None or isinstance(body, bytes | str) else json.dumps(body)
        said = {"Authorization": f"Bearer {self.token}", **headers}
        with suppress(ConnectionError):  # it refuses before it has read all
            connection.request(method, PREFIX + path, sent, said)
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        found = Answer(answer.status, headers, answer.read())
        connection.close()
        return found

    def begin(self, **body: Any) -> Any:
        """A test."""
        answer = self.ask("POST", "/tests", body)
        assert answer.status == 201, answer.body
        return answer.json

    def of(self, test: Any, what: str, body: Any = None, method: str = "POST") -> Answer:
        """A request about a test."""
        return self.ask(method, f"/tests/{test['id']}/{what}", body)


@contextmanager
def server(*words: str) -> Iterator[Server]:
    """One that runs."""
    with barnabas("serve-tests", *words) as ready:
        yield Server(ready["control"], ready["token"])


@contextmanager
def producer(test: Any, **settings: Any) -> Iterator[Producer]:
    """A client of a test's proxy, which sends nothing more in the end."""
    where = {"bootstrap.servers": test["bootstrap"], "client.id": "maker", "log_level": 0}
    made = Producer({**where, "enable.metrics.push": False, **settings})
    try:
        yield made
    finally:
        made.purge()
        made.flush(1)


def send(by: Producer, topic: str = "orders") -> None:
    """A record, acknowledged."""
    by.produce(topic, b"value")
    assert by.flush(10) == 0
