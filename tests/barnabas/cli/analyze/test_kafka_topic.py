"""What `barnabas analyze --to-kafka` says of its options, before Spark starts."""

from __future__ import annotations

from pathlib import Path

from barnabas.addresses import parse_servers
from barnabas.cli.analyze.kafka_topic import kafka_topic, read_properties, with_connector
from barnabas.cli.analyze.options import SendOptions
from barnabas.pipeline.streaming.kafka_topic import Topic


def test_options_make_a_topic(tmp_path: Path) -> None:
    file = tmp_path / "producer.properties"
    file.write_text(
        "# a cluster of ours\n\n! too\nsecurity.protocol=SASL_SSL\n"
        ' sasl.jaas.config = a.Module required password="a=b";\n'
    )
    properties = {
        "security.protocol": "SASL_SSL",
        "sasl.jaas.config": 'a.Module required password="a=b";',
    }
    assert read_properties(file) == properties
    two = parse_servers("a:1,b:2")
    asked = SendOptions(to_kafka=two, topic="t", kafka_properties=file)
    assert kafka_topic(asked) == Topic("a:1,b:2", "t", properties)
    other = SendOptions(to_kafka=parse_servers("a, [::1]:1"), topic="t")
    assert kafka_topic(other) == Topic("a:9092,[::1]:1", "t")
    assert kafka_topic(SendOptions()) is None


def test_jars_that_somebody_names_are_taken() -> None:
    for name, value in (
        ("spark.jars.packages", "a:b:1,org.apache.spark:spark-sql-kafka-0-10_2.13:4.4.0"),
        ("spark.jars", "/jars/spark-sql-kafka-0-10_2.13-4.4.0.jar"),
    ):
        assert with_connector({name: value}) == {name: value}
