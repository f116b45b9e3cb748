"""The tables of docs/brokers.md, made of runs of two checks."""

from __future__ import annotations

from typing import Any

from tests.conform.brokers import PAGE, area_table, release_table, totals_table, written


def run(frame: str, rejoin: str) -> dict[str, Any]:
    checks = [
        {"name": "frame/slow-bytes", "level": "must", "outcome": frame},
        {"name": "consumer-group/rejoin", "level": "must", "outcome": rejoin},
    ]
    passed = {"passed": int(frame == "pass"), "checks": 1}
    return {"areas": {"frame": passed}, "checks": checks}


RUNS = {
    "kfake-01f206a7": run("fail", "skipped"),
    "apache-4.0.0": run("pass", "fail"),
    "apache-4.3.1": run("pass", "pass"),
}


def test_areas() -> None:
    assert area_table(RUNS).splitlines() == [
        "| area | kfake 01f206a7 | Apache 4.0.0 | Apache 4.3.1 |",
        "| --- | --- | --- | --- |",
        "| frame | 0/1 | 1/1 | 1/1 |",
        "| **all** | **0/1** | **1/2** | **2/2** |",
        "| failed MUST checks | 1 | 1 | 0 |",
        "| skipped checks | 1 | 0 | 0 |",
    ]


def test_releases() -> None:
    assert release_table(RUNS).splitlines() == [
        "| check | level | since | Apache 4.0.0 | Apache 4.3.1 |",
        "| --- | --- | --- | --- | --- |",
        "| `consumer-group/rejoin` | MUST | 4.3.0 | fail | pass |",
    ]


def test_totals_name_no_check() -> None:
    assert totals_table({"some-broker-1.0": run("fail", "pass")}).splitlines() == [
        "| broker | passed | skipped |",
        "| --- | --- | --- |",
        "| some-broker 1.0 | 1/2 | 0 |",
    ]


def test_the_page_keeps_the_text_around_a_table() -> None:
    page = PAGE.read_text()
    once = written(page, "totals", "| a |")
    assert written(once, "totals", "| b |") == once.replace("| a |", "| b |")
    assert once.startswith(page.partition("<!-- totals -->")[0])
    assert once.endswith(page.partition("<!-- end of totals -->")[2])
