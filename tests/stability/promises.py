"""What others may rely on, as it is now: each is made of the code, or of what it prints."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from typer.testing import CliRunner

from barnabas import trouble
from barnabas.api_version import PREFIX
from barnabas.captures.kafka.columns import COLUMNS
from barnabas.cli.app import app
from barnabas.entry import INTERRUPTED
from barnabas.loop import run
from barnabas.page.openapi import document
from barnabas.pipeline.rows.columns import BODY_JSON, PARTITION
from barnabas.pipeline.tables.schemas import TABLES
from barnabas.proxy.control.api import routes
from barnabas.proxy.control.local_target import LocalTarget
from barnabas.proxy.scenario.json_schema import scenario_schema
from barnabas.testing.server.api import routes as of_tests
from tests.places import SAMPLES
from tests.proxy.control.desk import Desk, desk
from tests.stability.shapes import shape, shapes

RULE: Final = "{name: slow, match: {api: Metadata, direction: request}, do: {delay: 1ms}}"

WORDS: Final = frozenset(("title", "description", "examples", "$schema"))
"""Parts of a JSON Schema that are for people."""

OUTPUTS: Final = {
    "decode --json": ("decode", "faults.pcapng", "--json"),
    "summary --json": ("summary", "faults.pcapng", "--json"),
    "check --format json": ("check", "flapping.pcapng", "--format", "json"),
    "diff --json": ("diff", "faults.pcapng", "beside.pcapng", "--json"),
    "grep --json": ("grep", "orders", "faults.pcapng", "--json"),
    "peers list --json": ("peers", "list", "--json"),
    "scenario list --json": ("scenario", "list", "--json"),
    "fuzz list --json": ("fuzz", "list", "--json"),
    "experiment list --json": ("experiment", "list", "--json"),
    "spec errors --json": ("spec", "errors", "--json"),
}
"""Commands whose output is for programs, over the samples."""


def scenario() -> Any:
    """The language of scenario files, without the names that Kafka's protocol gives."""
    schema = _plain(scenario_schema())
    del schema["$defs"]["Api"]
    return schema


def control() -> Any:
    """The control port: requests, the shapes of its answers, and the metrics."""

    async def asked() -> Any:
        text = f"version: 1\nrules: [{RULE}]\n"
        with tempfile.TemporaryDirectory() as folder:
            async with desk(text, capture=Path(folder) / "c.pcapng", observed=True) as it:
                return await _control(it)

    return run(asked())


async def _control(it: Desk) -> Any:
    await it.exchange()
    answers: dict[str, Any] = {}
    async with it.client():
        for path in ("/status", "/connections", "/exchanges", "/scenario", "/log"):
            answers[f"GET {path}"] = shape(await it.get(path))
    text = (await it.ask("GET", "/metrics")).body.decode()
    types = [line.split()[2:4] for line in text.splitlines() if line.startswith("# TYPE")]
    error = await it.ask("POST", "/connections/77/close")
    unused: Any = None
    live = routes(LocalTarget(it.it.proxy), it.history, {}, lambda: None, lambda _: 0)
    tests = document(of_tests(unused))
    paths = document(live)["paths"] | tests["paths"]
    return {
        "requests": sorted(
            f"{method.upper()} {PREFIX}{path}"
            for path, methods in paths.items()
            for method in methods
        ),
        "types": _plain(tests["components"]["schemas"]),
        "answers": answers,
        "error": shape(error.json),
        "metrics": dict(sorted(types)),
    }


def json_columns() -> Any:
    """The columns of an exchange, and what commands print for programs."""
    return {
        "columns of an exchange": [one.name for one in COLUMNS],
        "outputs": {name: _printed(*words) for name, words in OUTPUTS.items()},
    }


def tables() -> Any:
    """Columns of the tables that `analyze` writes; `partition` is the struct in `partitions`."""
    found = {name: {one.name: one.type for one in columns} for name, columns in TABLES.items()}
    found["exchanges"][BODY_JSON.name] = BODY_JSON.type
    return {**found, "partition": {one.name: one.type for one in PARTITION}}


def exit_codes() -> Any:
    """By name."""
    return {
        "fine": trouble.FINE,
        "findings": trouble.FINDINGS,
        "misuse": trouble.MISUSE,
        "could not run": trouble.COULD_NOT_RUN,
        "interrupted": INTERRUPTED,
    }


PROMISES: Final[tuple[Callable[[], Any], ...]] = (
    scenario,
    control,
    json_columns,
    tables,
    exit_codes,
)
"""Each is recorded in a file of its name."""


def recording(promise: Callable[[], Any]) -> Path:
    """Where it is recorded."""
    return Path(__file__).with_name(f"{promise.__name__}.json")


def _plain(schema: Any) -> Any:
    match schema:
        case dict():
            # a property may be called as a word for people is
            return {
                key: {name: _plain(one) for name, one in value.items()}
                if key == "properties"
                else _plain(value)
                for key, value in schema.items()
                if key not in WORDS
            }
        case list():
            return [_plain(one) for one in schema]
    return schema


def _printed(*words: str) -> Any:
    arguments = [str(SAMPLES / word) if (SAMPLES / word).is_file() else word for word in words]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code in (trouble.FINE, trouble.FINDINGS), done.output
    try:
        return shape(json.loads(done.stdout))
    except ValueError:
        return shapes(map(json.loads, done.stdout.splitlines()))
