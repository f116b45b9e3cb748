"""Clients in Rust: one small program, built with the installed cargo for the requested release."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from barnabas.peers.clients.cache import built, folder, run
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnavailableClientError

SOURCES: Final = Path(__file__).parent / "rust"
"""The program: of the crate rdkafka, since 0.37."""

_MANIFEST: Final = """[package]
name = "client"
version = "0.0.0"
edition = "2021"

[dependencies]
rdkafka = {{ version = "={}", default-features = false, features = ["libz"] }}
serde_json = "1"
"""
"""The crate builds librdkafka with zlib, for gzip, and without TLS and Kerberos, which no workload needs."""

_BUILDING: Final = 1800.0
"""Seconds: the first time librdkafka is built in C."""


def rust_program(version: str) -> Program:
    """Return the program built with a release of the crate rdkafka.

    Raises:
        UnavailableClientError: cargo is missing, or the build failed.
    """
    cargo = shutil.which("cargo")
    if cargo is None:
        reason = "Rust clients need the cargo command on the PATH, and a C compiler: see rustup.rs"
        raise UnavailableClientError(reason)
    sources = sorted(SOURCES.glob("*.rs"))

    def build(path: Path) -> None:
        (path / "src").mkdir(exist_ok=True)
        for source in sources:
            shutil.copy(source, path / "src")
        (path / "Cargo.toml").write_text(_MANIFEST.format(version))
        # code that releases share is built once
        with folder("rust-target") as target:
            environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
            task, line = f"rdkafka {version} can't be built", [cargo, "build", "--release"]
            run(task, line, within=path, environment=environment, seconds=_BUILDING)
            # a new file: the old one may be running
            shutil.copy(target / "release" / "client", path / "client.new")
            (path / "client.new").replace(path / "client")

    return Program([str(built(f"rdkafka-{version}-rust", sources, build))])
