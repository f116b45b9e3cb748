"""Secrets are where the declarations say, and never printed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from barnabas.specs.frames import Direction
from barnabas.specs.json_forms import json_form
from barnabas.specs.jsonform import base64_text, to_json
from barnabas.specs.registry import api
from barnabas.specs.secrets import SECRETS, by_field, has_secrets, redact


@pytest.mark.parametrize(("name", "direction", "path"), SECRETS)
def test_every_version_has_the_field(name: str, direction: Direction, path: str) -> None:
    """Of those that have the structure it is in."""
    declared = api(name)
    low, high = declared.versions
    layouts = [declared.message(direction).layout(version) for version in range(low, high + 1)]
    ((field, flag),) = by_field([path]).items()
    above = field.rpartition(".")[0]
    having = [layout for layout in layouts if not above or layout.find(above)]
    assert layouts[-1] in having
    for layout in having:
        assert layout.find(field) or field.endswith("synonyms.value")
        assert not flag or layout.find(flag)
    assert has_secrets(declared.key, direction)


FLAGGED: list[dict[str, Any]] = [
    {"name": "ssl.keystore.password", "value": "hunter2", "is_sensitive": True},
    {"name": "log.retention.ms", "value": "7", "is_sensitive": False},
    {"name": "sasl.jaas.config", "value": None, "is_sensitive": True},
]


def test_a_value_is_a_secret_if_the_broker_says_that_it_is() -> None:
    body: dict[str, Any] = {
        "results": [{"configs": [{**one, "synonyms": [{**one}]} for one in FLAGGED]}]
    }
    configs = redact(32, "response", body)["results"][0]["configs"]
    values = [[one["value"], one["synonyms"][0]["value"]] for one in configs]
    assert values == [["<redacted>", "<redacted>"], ["7", "7"], [None, None]]
    assert body["results"][0]["configs"][0]["value"] == "hunter2"


@pytest.mark.parametrize("version", range(5, 8))
def test_a_broker_that_answers_create_topics_with_a_password(version: int) -> None:
    """Kafka's sends null there; log, spans and tables hide what others send."""
    codec = api("CreateTopics").response.codec(version)
    body = codec.decode(codec.encode({"topics": [{"name": "t", "configs": FLAGGED}]}))
    form = json_form(19, version, "response")(body, base64_text)
    assert form == to_json(redact(19, "response", body))
    assert [one["value"] for one in form["topics"][0]["configs"]] == ["<redacted>", "7", None]


SECRET = {"name": "confluent.key.password", "value": "hunter2"}
TOPOLOGY = {"topology": {"subtopologies": [{"repartition_source_topics": [{"topic_configs": [
    {"key": "a.password", "value": "hunter2"}]}]}]}}  # fmt: skip
USER = {"name": "u", "salt": b"hunter2", "salted_password": b"hunter2", "none": None}


@pytest.mark.parametrize(
    ("key", "direction", "body", "expected"),
    [
        (19, "request", {"topics": [{"name": "t", "configs": [SECRET]}]}, "<redacted>"),
        (88, "request", TOPOLOGY, "<redacted>"),
        (89, "response", {"groups": [TOPOLOGY]}, "<redacted>"),
        (51, "request", {"upsertions": [USER]}, "<redacted 7 bytes>"),
        (44, "request", {"resources": [{"configs": [SECRET, {"name": "b", "value": None}]}]}, "<redacted>"),
    ],
)  # fmt: skip
def test_nothing_but_secrets_is_withheld(
    key: int, direction: Direction, body: dict[str, Any], expected: str
) -> None:
    before = repr(body)
    withheld = redact(key, direction, body)
    assert repr(body) == before
    assert repr(withheld) == before.replace("b'hunter2'", "'hunter2'").replace("hunter2", expected)
    assert "hunter2" not in json.dumps(to_json(withheld))
