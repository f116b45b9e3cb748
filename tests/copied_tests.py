"""Tests in Go, Java and Node as the page copies them, with a client at the marked place."""

from __future__ import annotations

import re
from typing import Final

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.page.as_client_test import Language, as_client_test
from barnabas.proxy.scenario.yaml_lines import flow
from tests.places import SAMPLES

HOSTILE: Final = "a \"quoted\" 'rule' `of` ${x} $(y) %s \\u000a \\\n\r\u2028 */ Übung \u202e 🎉"
"""The name of a rule."""

MARK: Final = re.compile(r"// your client here.*")


def refused() -> Exchange:
    """Return a Produce that a rule refused with NOT_ENOUGH_REPLICAS."""
    exchanges = open_capture(SAMPLES / "faults.pcapng").exchanges()
    return next(exchange for exchange in exchanges if exchange.error == "NOT_ENOUGH_REPLICAS")


def copied_test(language: Language, client: str = "") -> str:
    """Return the test of a refused Produce, with a call of a client; the rule has a hostile name."""
    exchange = refused()
    exchange.rules = (HOSTILE,)
    rule = {
        "name": HOSTILE,
        "match": {"api": "Produce", "direction": "request", "client_id": "writer"},
        "do": {"respond": {"error": "NOT_ENOUGH_REPLICAS"}},
    }
    text = as_client_test(language, exchange, [(0, flow({"version": 1, "rules": [rule]}))], {})
    assert len(MARK.findall(text)) == 1
    return MARK.sub(client, text) if client else text
