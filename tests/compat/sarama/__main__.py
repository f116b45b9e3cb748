"""`python -m tests.compat.sarama`: the tests behind both servers; 0 if all end the same way, else 1.

They want five brokers, a proxy for each at ports of their own, and Docker, to stop and start brokers: a
command of that name does it here. Those that run Java tools in a container are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from barnabas.peers.apache import ApacheCluster, JavaOptions
from barnabas.peers.clients.golang import go
from tests.compat.kgo.outcomes import Outcome, Run, differences, read
from tests.proxy.toxiproxy.processes import ask, barnabas, toxiproxy

MODULE: Final = "github.com/IBM/sarama"

VERSION: Final = "v1.61.1"

KAFKA: Final = "4.3.1"

NODES: Final = 5

SERVERS: Final = ("toxiproxy", "barnabas")

FIRST: Final = 29091
"""The port at which the tests look for the first broker's proxy."""

SETTINGS: Final = {
    "listeners": "PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port},"
    "INTERNAL://127.0.0.1:{spare_port}",
    "advertised.listeners": "PLAINTEXT://127.0.0.1:2909{id},INTERNAL://127.0.0.1:{spare_port}",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT",
    "inter.broker.listener.name": "INTERNAL",
    "broker.rack": "{id}",
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    "default.replication.factor": "2",
    "offsets.topic.replication.factor": "2",
    "transaction.state.log.replication.factor": "2",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "50",
    "offsets.topic.num.partitions": "50",
    "auto.create.topics.enable": "false",
    "controlled.shutdown.enable": "true",
    "group.initial.rebalance.delay.ms": "0",
}
"""As Sarama's docker-compose.yml has them, and the server.properties that its image begins with."""

DOCKER: Final = """\
#!{python} -IS
import sys, urllib.request
urllib.request.urlopen("http://127.0.0.1:{port}/" + "/".join(sys.argv[2:]), b"", 120)
"""
"""`docker compose stop kafka-2` asks us for it."""


@contextmanager
def docker(cluster: ApacheCluster, folder: Path) -> Iterator[None]:
    """A command `docker` in a folder that stops and starts brokers of a cluster."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            command, _, service = self.path.strip("/").partition("/")
            node = int(service[-1])
            if command == "stop":
                cluster.stop(node)
            elif cluster.nodes[node].pid is None:
                cluster.start(node)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    program = folder / "docker"
    program.write_text(DOCKER.format(python=sys.executable, port=server.server_port))
    program.chmod(0o700)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()


def functional(source: Path) -> str:
    """The tests that want brokers, as `go test -run` takes them."""
    files = sorted(source.glob("functional_*_test.go"))
    found = [
        name for file in files for name in re.findall(r"(?m)^func (Test\w+)", file.read_text())
    ]
    return f"^({'|'.join(name for name in found if 'Java' not in name and name != 'TestMain')})$"


def behind(server: str, source: Path, only: str, kept: Path) -> Run:
    """The tests behind one of the two servers, before brokers of their own."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sarama-")))
        made = ApacheCluster(
            KAFKA, NODES, settings=SETTINGS, java=JavaOptions(("-Xmx384m",)), timeout=240
        )
        cluster = stack.enter_context(made)
        stack.enter_context(docker(cluster, folder))
        if server == "toxiproxy":
            port = stack.enter_context(toxiproxy(folder / "bin"))
        else:
            logged = "--log", "off", "--capture", str(kept / "barnabas.pcapng")
            port = stack.enter_context(barnabas(*logged))["port"]
        proxies = [
            {
                "name": f"kafka{node}",
                "listen": f"127.0.0.1:{FIRST + node - 1}",
                "upstream": f"{host}:{number}",
            }
            for node, (host, number) in cluster.brokers.items()
        ]
        answer = ask(port, "POST", "/populate", json.dumps(proxies).encode())
        assert answer.status == 201, answer
        environment = {
            **os.environ,
            "PATH": f"{folder}:{os.environ['PATH']}",
            "TOXIPROXY_ADDR": f"http://127.0.0.1:{port}",
            "KAFKA_VERSION": KAFKA,
            "GOFLAGS": "",
            "GOWORK": "off",
        }
        line = [go(), "test", "-json", "-count=1", "-timeout=30m", "-tags=functional"]
        line += ["-run", only, "."]
        events = kept / f"{server}.jsonl"
        with events.open("w") as out:
            subprocess.run(
                line, cwd=source, env=environment, stdout=out, stderr=sys.stderr, check=False
            )
        with events.open() as lines:
            return read(lines)


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.compat.sarama", description=__doc__)
    parser.add_argument("--only", metavar="REGEXP", help="as go test -run takes it")
    parser.add_argument("--servers", nargs="+", choices=SERVERS, default=SERVERS)
    parser.add_argument(
        "--keep", type=Path, default=Path("build/sarama"), help="events and capture (build/sarama)"
    )
    asked = parser.parse_args()
    asked.keep.mkdir(parents=True, exist_ok=True)
    name = f"{MODULE}@{VERSION}"
    done = subprocess.run([go(), "mod", "download", "-json", name], capture_output=True, check=True)
    with tempfile.TemporaryDirectory(prefix="sarama-") as temporary:
        source = Path(shutil.copytree(json.loads(done.stdout)["Dir"], Path(temporary) / "module"))
        runs = {
            server: behind(server, source, asked.only or functional(source), asked.keep.resolve())
            for server in asked.servers
        }
    for server, run in runs.items():
        print(f"{server}: {', '.join(f'{n} {word}' for word, n in run.counts().items())}")
    for test in sorted({test for run in runs.values() for test in run.outcomes}):
        if test.name and "/" not in test.name:
            ended = [run.outcomes.get(test, Outcome.ABSENT) for run in runs.values()]
            print(*(f"{outcome:<12}" for outcome in ended), test)
    if len(runs) == 1:
        (run,) = runs.values()
        return 1 if Outcome.FAILED in run.counts() else 0
    found = differences(*runs.values())
    for one in found:
        print(f"differs: {one.test}: {runs['barnabas'].reason(one.test)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
