"""A broker of Apache Kafka as a campaign names it: a mapping in a file, text everywhere else."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from barnabas.fuzz.campaigns.campaign import Campaign
from barnabas.fuzz.targets.apache_settings import ApacheSettings


def target(value: Any) -> str:
    found = {"version": 1, "target": value, "budget": {"cases": 1}}
    return Campaign.model_validate(found).target


def test_a_mapping_is_kept_as_text_and_read_from_it_again() -> None:
    whole = {
        "kind": "apache",
        "version": "4.3.1",
        "listener": "sasl_plaintext",
        "mechanism": "SCRAM-SHA-256",
        "jvm": ["-Xmx300m", "-XX:+UseZGC"],
        "settings": {"num.io.threads": 4, "auto.create.topics.enable": True, "x": "a=b & c vs d+e"},
    }
    text = target(whole)
    assert " " not in text
    found = ApacheSettings.of(text.partition(":")[2])
    assert found.jvm == ("-Xmx300m", "-XX:+UseZGC")
    assert found.settings == {
        "num.io.threads": "4",
        "auto.create.topics.enable": "true",
        "x": "a=b & c vs d+e",
    }
    assert (found.listener, found.mechanism) == ("sasl_plaintext", "SCRAM-SHA-256")
    assert found.text == text


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"kind": "apache"}, "version: Field required"),
        ({"kind": "embedded", "version": "1"}, "kind: Input should be 'apache'"),
        ({"version": "4.3.1", "listeners": "plaintext"}, "did you mean 'listener'"),
        ({"version": "4.3.1", "settings": ["a"]}, "settings: "),
        ({"version": 4}, "version: "),
    ],
)
def test_what_is_wrong_in_a_mapping_is_told_in_a_line(value: Any, says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        target(value)
