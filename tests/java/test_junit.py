"""The extension for JUnit: its own tests, its README's example in another project, and a copied test."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import typer.main

from barnabas.cli.app import app
from barnabas.page import as_client_test
from tests.copied_tests import copied_test
from tests.docs.test_examples import unknown
from tests.fixture_readmes import JAVA, example, getting
from tests.places import ROOT

MVN = shutil.which("mvn")

pytestmark = pytest.mark.needs_go("kfake")

ENVIRONMENT = {
    **os.environ,
    "BARNABAS": f"{sys.executable} -m barnabas",
    "PYTHONPATH": str(ROOT),
}

POM = """<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>orders</groupId>
  <artifactId>orders</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <repositories><repository><id>tried</id><url>{repository}</url></repository></repositories>
  <dependencies>
    {dependency}
    <dependency>
      <groupId>org.junit.jupiter</groupId>
      <artifactId>junit-jupiter-engine</artifactId>
      <version>5.11.4</version>
    </dependency>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka-clients</artifactId>
      <version>2.3.1</version>
    </dependency>
  </dependencies>
  <build>
    <pluginManagement>
      <plugins>
        <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
        <plugin><artifactId>maven-surefire-plugin</artifactId><version>3.5.2</version></plugin>
      </plugins>
    </pluginManagement>
  </build>
</project>
"""

CLIENT = """
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

class Orders {
    static void sendOrders(String bootstrap) throws Exception {
        var text = new StringSerializer();
        Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap);
        try (var producer = new KafkaProducer<>(settings, text, text)) {
            producer.send(new ProducerRecord<>("orders", "tea")).get();
        }
    }
}
"""

PROJECT = """
import barnabas.junit.KafkaProxy;
import barnabas.junit.Proxy;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class OrdersTest extends Orders {
"""

slow = pytest.mark.slow("builds Maven projects, which download JUnit, Jackson and others once")


def mvn(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    if MVN is None:
        pytest.skip("needs mvn (Debian: apt-get install maven)")
    return subprocess.run(
        [MVN, "-q", "-B", *words],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )


@slow
@pytest.mark.timeout(500)
def test_its_tests_pass_and_the_example_in_a_project_of_its_own(tmp_path: Path) -> None:
    repository, project = tmp_path / "repository", tmp_path / "project"
    ours = shutil.copytree(ROOT / JAVA, tmp_path / "java", ignore=shutil.ignore_patterns("target"))
    dependency, pom = getting(JAVA, "xml"), (ours / "pom.xml").read_text()
    version = dependency.partition("<version>")[2].partition("<")[0]
    snapshot = f"{version}-SNAPSHOT"  # Maven looks for newer ones of these
    (ours / "pom.xml").write_text(pom.replace(f"<version>{version}<", f"<version>{snapshot}<", 1))
    done = mvn(ours, "deploy", f"-DaltDeploymentRepository=tried::{repository.as_uri()}")
    assert done.returncode == 0, done.stdout + done.stderr
    published = {path.name for path in repository.glob("barnabas/barnabas-junit/*/*.jar")}
    assert {re.sub(r"^.*?-1(?=[.-])", "", name) for name in published} == {
        *(".jar", "-sources.jar", "-javadoc.jar")
    }
    test = project / "src" / "test" / "java" / "OrdersTest.java"
    test.parent.mkdir(parents=True)
    test.with_name("Orders.java").write_text(CLIENT)
    published_form = dependency.replace(version, snapshot)
    pom = POM.format(repository=repository.as_uri(), dependency=published_form)
    (project / "pom.xml").write_text(pom)
    text = PROJECT + textwrap.indent(example(JAVA), "    ") + "}\n"
    test.write_text(text)
    failing = text.replace('"Produce", 1, 3', '"Produce", 0, 0').replace(
        "OrdersTest", "FailingTest"
    )
    test.with_name("FailingTest.java").write_text(failing)
    done = mvn(project, "-U", "test")
    assert "Tests run: 2, Failures: 1, Errors: 0" in done.stdout, done.stdout + done.stderr
    assert "1 retried request, where 0 at most should be" in done.stdout
    capture = re.search(r"capture: (.+)", done.stdout + done.stderr)
    assert capture is not None
    assert [Path(capture[1])] == [*(project / "target" / "barnabas").iterdir()]


@slow
@pytest.mark.timeout(500)
def test_a_copied_test(tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / JAVA, project, ignore=shutil.ignore_patterns("target", "test"))
    tests = project / "src" / "test" / "java"
    tests.mkdir(parents=True)
    (tests / "Orders.java").write_text(CLIENT)
    test = copied_test(as_client_test.JAVA, "Orders.sendOrders(proxy.bootstrapServers());")
    (tests / as_client_test.JAVA.file).write_text(test)
    done = mvn(project, "test", "-Dtest=ProduceNotEnoughReplicasTest")
    assert done.returncode == 0, done.stdout + done.stderr
    (report,) = project.glob("target/surefire-reports/*.txt")
    assert "Tests run: 1, Failures: 0, Errors: 0, Skipped: 0" in report.read_text()


def test_the_container_has_options_of_the_proxy() -> None:
    source = ROOT / JAVA / "src/main/java/barnabas/testcontainers/BarnabasContainer.java"
    options = re.findall(r'"(--?[a-z][a-z-]*)"', source.read_text())
    assert {"-b", "--advertise", "--broker-ports"} <= set(options)
    assert unknown(typer.main.get_command(app), ["proxy", *options]) == []
