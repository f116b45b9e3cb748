"""The topic that exchanges go to, as a command line names it, and what Spark needs for that."""

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
"""org.apache.kafka.common.internals.Topic."""


def kafka_topic(asked: SendOptions) -> Topic | None:
    """Return where exchanges are sent; None: nowhere. Raises Trouble."""
    name, properties = asked.topic, asked.kafka_properties
    if asked.to_kafka is None or name is None:
        return None
    reached = ",".join(map(endpoint_text, asked.to_kafka))
    if not _NAME.fullmatch(name):
        raise Trouble(f"--topic {name!r} is no name of a topic: up to 249 of a-z A-Z 0-9 . _ - are")
    from barnabas.pipeline.streaming.kafka_topic import Topic

    return Topic(reached, name, {} if properties is None else read_properties(properties))


def read_properties(path: Path) -> dict[str, str]:
    """A file of NAME=VALUE lines, as Kafka's own tools take it by --command-config. Raises Trouble."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as problem:
        raise Trouble(f"--kafka-properties {path}: {reason_of(problem)}") from None
    except UnicodeDecodeError:
        raise Trouble(f"--kafka-properties {path}: it is no text in UTF-8") from None
    found = {}
    for number, line in enumerate(lines, 1):
        name, equals, value = line.strip().partition("=")
        if not name or name.startswith(("#", "!")):
            continue
        if not equals:
            raise Trouble(f"--kafka-properties {path}, line {number}: NAME=VALUE is expected")
        found[name.strip()] = value.strip()
    return found


def with_connector(settings: Mapping[str, str]) -> dict[str, str]:
    """Spark's settings, with the jars of its sink unless they name some. Raises Trouble if there are none."""
    from barnabas.pipeline.streaming.kafka_topic import CONNECTOR

    artifact = CONNECTOR.split(":")[1].rpartition("_")[0]
    given = [settings[name] for name in ("spark.jars", "spark.jars.packages") if name in settings]
    spark = importlib.util.find_spec("pyspark")  # who starts it says that it is missing
    if spark is None or spark.origin is None or any(artifact in one for one in given):
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
