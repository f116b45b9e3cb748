"""Secrets are where the declarations say, and never printed."""

from __future__ import annotations

import json

import pytest

from barnabas.specs.codec import has_path
from barnabas.specs.frames import Direction
from barnabas.specs.jsonform import to_json
from barnabas.specs.registry import api
from barnabas.specs.secrets import SECRETS, has_secrets, redact


@pytest.mark.parametrize(("name", "direction", "path"), SECRETS)
def test_every_version_has_the_field(name: str, direction: Direction, path: str) -> None:
    declared = api(name)
    low, high = declared.versions
    for version in range(low, high + 1):
        assert has_path(declared.message(direction).layout(version), path)
    assert has_secrets(declared.key, direction)


def test_several_secrets_of_one_message() -> None:
    body = {"upsertions": [{"name": "u", "salt": b"pepper", "salted_password": b"hunter2"}]}
    kept = redact(51, "request", body)
    assert kept["upsertions"][0] == {
        "name": "u",
        "salt": "<redacted 6 bytes>",
        "salted_password": "<redacted 7 bytes>",
    }
    assert body["upsertions"][0]["salt"] == b"pepper"


def test_text_and_nothing() -> None:
    values = [{"name": "a", "value": "hunter2"}, {"name": "b", "value": None}]
    body = {"resources": [{"resource_name": "1", "configs": values}], "validate_only": False}
    kept = redact(44, "request", body)
    assert "hunter2" not in json.dumps(to_json(kept))
    assert [value["value"] for value in kept["resources"][0]["configs"]] == ["<redacted>", None]


def test_other_messages_stay_as_they_are() -> None:
    body = {"topics": None}
    assert redact(3, "request", body) is body
