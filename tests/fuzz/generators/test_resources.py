"""The types of resources: those of Kafka's own enumerations, and each API draws from its own table."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.generators.messages import message
from barnabas.fuzz.generators.resources import ACL_RESOURCES, CONFIG_RESOURCES
from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.java import java
from barnabas.peers.apache.versions import release
from barnabas.specs import keys
from barnabas.specs.frames import decode_frame

ENUMERATIONS = """
import json, sys
from pathlib import Path
import jpype
from barnabas.peers.apache.java import library
jpype.startJVM(library(Path(sys.argv[1])), classpath=sys.argv[2].split(":"))
configs = jpype.JClass("org.apache.kafka.common.config.ConfigResource$Type")
acls = jpype.JClass("org.apache.kafka.common.resource.ResourceType")
print(json.dumps([
    {str(item.name()): int(item.id()) for item in configs.values()},
    {str(item.name()): int(item.code()) for item in acls.values()},
]))
"""


def drawn(key: int, version: int, structure: str, field: str) -> set[int]:
    """Return the values of a field in generated requests."""
    values: set[int] = set()
    for number in range(200):
        seed = message(key, version, "request", SeededRandom("types", number), "")
        body = decode_frame(seed.frame, "request").body
        rows = (body[structure] if structure else [body]) or []
        values.update(row[field] for row in rows)
    return values


@pytest.mark.parametrize("key", [keys.DESCRIBE_CONFIGS, keys.INCREMENTAL_ALTER_CONFIGS])
def test_configs_are_of_every_type_of_config_resource(key: int) -> None:
    assert drawn(key, 1, "resources", "resource_type") == set(CONFIG_RESOURCES.values())


def test_acls_are_of_every_type_of_acl_resource() -> None:
    types = set(ACL_RESOURCES.values())
    assert drawn(keys.DESCRIBE_ACLS, 3, "", "resource_type_filter") == types
    assert drawn(keys.CREATE_ACLS, 3, "creations", "resource_type") == types


@pytest.mark.needs_apache("4.3.1")
def test_the_types_are_those_of_kafkas_classes() -> None:
    jars = os.pathsep.join(map(str, class_path(release("4.3.1").coordinates)))
    command = (sys.executable, "-c", ENUMERATIONS, str(java()), jars)
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == [CONFIG_RESOURCES, ACL_RESOURCES]
