from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.cli.fuzz.campaigns import (
    READY,
    campaign_of,
    read_campaign,
    ready,
)
from barnabas.cli.fuzz.run_options import ApacheOptions
from barnabas.trouble import Trouble

PLAIN = "version: 1\ntarget: librdkafka\nbudget: {cases: 10}\n"


@pytest.mark.parametrize("name", ready())
def test_ready_campaigns_are_right_and_say_what_they_are_for(name: str) -> None:
    assert read_campaign(Path(name)).campaign.about
    assert (READY / f"{name}.yaml").is_file()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "version: 1\ntarget: librdkafka\nbudget: {cases: 10}\nmutator: [nulls]\n",
            "c.yaml:4: unknown key",
        ),
        ("version: 2\ntarget: librdkafka\nbudget: {cases: 10}\n", "c.yaml:1: version"),
        (
            "version: 1\ntarget: embeded\nbudget: {cases: 10}\n",
            "c.yaml:2: target: unknown kind 'embeded'",
        ),
        ("version: 1\ntarget: librdkafka\nbudget: {case: 10}\n", "c.yaml:3: unknown key 'case'"),
        ("version: 1\ntarget: librdkafka\n", "c.yaml:1: 'budget' is missing in the campaign"),
        ("version: 1\ntarget: [\n", "c.yaml:3: invalid YAML"),
        (
            "version: 1\ntarget: {version: 4.3.1, jvms: []}\nbudget: {cases: 10}\n",
            "c.yaml:2: target: unknown key 'jvms'; did you mean 'jvm'?",
        ),
        (PLAIN + "apis:\n  - Fetch\n  - Fecth\n", "c.yaml:4: "),
    ],
)
def test_every_problem_has_its_line(text: str, says: str) -> None:
    with pytest.raises(Trouble) as trouble:
        campaign_of(text, "c.yaml")
    assert says in str(trouble.value)
    assert trouble.value.code == 2


def test_what_the_command_line_says_of_brokers_is_added_to_the_target() -> None:
    settings = [("a.b", "c=d"), ("e", "")]
    broker = ApacheOptions(listener="sasl_plaintext", broker_setting=settings, jvm=["-Xmx1g"])
    read = read_campaign(Path("versions"), None, broker.settings)
    options = "?listener=sasl_plaintext&jvm=-Xmx1g&a.b=c=d&e="
    assert read.campaign.target == f"apache:3.9.1{options} vs apache:4.3.1{options}"
    assert read_campaign(Path("sasl"), None, {}).campaign.target == (
        "apache:4.3.1?listener=sasl_plaintext"
    )
