"""The Kafka topic to which exchanges are sent, and the Spark packages for that."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from barnabas.captures.host_port import endpoint_text
from barnabas.cli.analyze.options import SendOptions
from barnabas.trouble import COULD_NOT_RUN, Trouble, reason_of

if TYPE_CHECKING:
    from barnabas.pipeline.streaming.kafka_topic import Topic

_NAME: Final = re.compile(r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}")
"""The names that Kafka allows (org.apache.kafka.common.internals.Topic)."""


def kafka_topic(options: SendOptions) -> Topic | None:
    """Return the topic to which exchanges are sent; None: they are not sent. Raises Trouble."""
    name, properties = options.topic, options.kafka_properties
    if options.to_kafka is None or name is None:
        return None
    reached = ",".join(map(endpoint_text, options.to_kafka))
    if not _NAME.fullmatch(name):
        raise Trouble(
            f"--topic {name!r} is not a topic name: expected up to 249 of a-z A-Z 0-9 . _ -"
        )
    from barnabas.pipeline.streaming.kafka_topic import Topic

    return Topic(reached, name, {} if properties is None else read_properties(properties))


def read_properties(path: Path) -> dict[str, str]:
    """Read a file of NAME=VALUE lines, as `--command-config` of Kafka's tools takes it. Raises Trouble."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as problem:
        raise Trouble(f"--kafka-properties {path}: {reason_of(problem)}") from None
    except UnicodeDecodeError:
        raise Trouble(f"--kafka-properties {path}: the file is not UTF-8") from None
    properties = {}
    for number, line in enumerate(lines, 1):
        name, equals, value = line.strip().partition("=")
        if not name or name.startswith(("#", "!")):
            continue
        if not equals:
            raise Trouble(f"--kafka-properties {path}, line {number}: expected NAME=VALUE")
        properties[name.strip()] = value.strip()
    return properties


def with_connector(settings: Mapping[str, str]) -> dict[str, str]:
    """Return Spark's settings with the jars of its Kafka connector, unless the settings name them.

    Raises:
        Trouble: The jars are unavailable.
    """
    from barnabas.pipeline.streaming.kafka_topic import CONNECTOR

    artifact = CONNECTOR.split(":")[1].rpartition("_")[0]
    configured = [
        settings[name] for name in ("spark.jars", "spark.jars.packages") if name in settings
    ]
    spark = importlib.util.find_spec("pyspark")  # starting Spark reports that it is missing
    if (
        spark is None
        or spark.origin is None
        or any(artifact in packages for packages in configured)
    ):
        return dict(settings)
    from barnabas.peers.apache.artifacts import class_path
    from barnabas.peers.apache.errors import UnavailableError

    try:
        jars = class_path([CONNECTOR])
    except UnavailableError as problem:
        raise Trouble(f"--to-kafka: {problem}", COULD_NOT_RUN) from None
    theirs = {path.name for path in Path(spark.origin).parent.glob("jars/*")}
    ours = [str(jar) for jar in jars if jar.name not in theirs]
    return {**settings, "spark.jars": ",".join(filter(None, (settings.get("spark.jars"), *ours)))}
