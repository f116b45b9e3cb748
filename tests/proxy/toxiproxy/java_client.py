"""Toxiproxy's client in Java, in a process of its own: says what it saw, as JSON."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import jpype

from barnabas.peers.apache.client_process import library


def main(program: str, classes: str, port: str, upstream: str) -> None:
    """Make a proxy, give it toxics, change and remove them."""
    jpype.startJVM(library(Path(program)), "-Xmx256m", classpath=classes.split(os.pathsep))
    directions = jpype.JClass("eu.rekawek.toxiproxy.model.ToxicDirection")
    client = jpype.JClass("eu.rekawek.toxiproxy.ToxiproxyClient")("127.0.0.1", int(port))
    proxy = client.createProxy("java", "127.0.0.1:0", upstream)
    toxics = proxy.toxics()
    slow = toxics.latency("slow", directions.DOWNSTREAM, 200).setJitter(5)
    toxics.bandwidth("narrow", directions.UPSTREAM, 10)
    toxics.timeout("silent", directions.UPSTREAM, 10).remove()
    toxics.resetPeer("reset", directions.DOWNSTREAM, 5).remove()
    toxics.slicer("slices", directions.DOWNSTREAM, 10, 5)
    toxics.limitData("limit", directions.DOWNSTREAM, 1000)
    toxics.slowClose("late", directions.DOWNSTREAM, 1)
    slow.setLatency(7)
    seen = {
        "toxics": [str(toxic.getName()) for toxic in toxics.getAll()],
        "latency": int(toxics.get("slow", slow.getClass()).getLatency()),
    }
    proxy.disable()
    seen["disabled"] = not proxy.isEnabled()
    client.reset()
    seen["reset"] = bool(client.getProxy("java").isEnabled()) and not list(toxics.getAll())
    proxy.delete()
    try:
        client.getProxy("java")
    except jpype.JException as problem:
        seen["gone"] = str(problem.getMessage())
    print(json.dumps(seen), file=sys.__stdout__, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
