"""What `barnabas analyze --to-kafka` says of its options, before Spark starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.cli.analyze.command import analyze_command
from barnabas.cli.analyze.kafka_topic import kafka_topic, read_properties, with_connector
from barnabas.pipeline.streaming.kafka_topic import Topic
from barnabas.trouble import Trouble
from tests.places import SAMPLES


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
    assert kafka_topic("a:1,b:2", "t", file) == Topic("a:1,b:2", "t", properties)
    assert kafka_topic("a, [::1]:1", "t", None) == Topic("a:9092,[::1]:1", "t")
    assert kafka_topic(None, None, None) is None


@pytest.mark.parametrize(
    ("servers", "name", "said"),
    [
        ("a:1", None, "--to-kafka needs --topic NAME"),
        (None, "t", "--topic is about --to-kafka HOST:PORT: give both"),
        ("a:x", "t", "'a:x' is no address: HOST:PORT is expected, e.g. localhost:9092"),
        ("a:1", "..", "--topic '..' is no name of a topic: up to 249 of a-z A-Z 0-9 . _ - are"),
        ("a:1", "a/b", "--topic 'a/b' is no name of a topic: up to 249 of a-z A-Z 0-9 . _ - are"),
    ],
)
def test_what_can_not_be_is_told(servers: str | None, name: str | None, said: str) -> None:
    with pytest.raises(Trouble) as raised:
        kafka_topic(servers, name, None)
    assert str(raised.value) == said


def test_a_file_that_has_no_properties_is_told(tmp_path: Path) -> None:
    file = tmp_path / "producer.properties"
    with pytest.raises(Trouble, match="No such file"):
        read_properties(file)
    file.write_text("a=b\nsecurity.protocol\n")
    with pytest.raises(Trouble, match="line 2: NAME=VALUE is expected"):
        read_properties(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(Trouble, match="no text in UTF-8"):
        read_properties(file)


def test_jars_that_somebody_names_are_taken() -> None:
    for name, value in (
        ("spark.jars.packages", "a:b:1,org.apache.spark:spark-sql-kafka-0-10_2.13:4.4.0"),
        ("spark.jars", "/jars/spark-sql-kafka-0-10_2.13-4.4.0.jar"),
    ):
        assert with_connector({name: value}) == {name: value}


def test_it_wants_follow_and_a_folder_of_this_machine(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    sample = str(SAMPLES / "rebalance.pcap.gz")
    with pytest.raises(Trouble, match="give --follow, too"):
        analyze_command([sample], out, to_kafka="a:1", topic="t")
    with pytest.raises(Trouble, match="what has a scheme is not followed"):
        analyze_command(["s3a://bucket/captures"], out, follow=True)
    with pytest.raises(Trouble, match="only packets, frames are written on request"):
        analyze_command(["s3a://bucket/captures"], out, tables="nonsense")
    with pytest.raises(Trouble, match="can't be had by Spark Connect"):
        analyze_command(["s3a://bucket/captures"], out, master="sc://127.0.0.1")
    assert not (tmp_path / "out").exists()
