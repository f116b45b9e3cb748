from __future__ import annotations

import os
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import typer.main
import yaml

from barnabas.cli.app import app
from barnabas.cli.fuzz.campaigns import campaign_of
from barnabas.proxy.scenario.file import loads
from tests.docs import examples
from tests.docs.documents import WRITTEN, Block, blocks, label
from tests.docs.documents import examples as examples_of
from tests.places import ROOT


def documents(*languages: str) -> pytest.MarkDecorator:
    """All documents with a block in one of these languages."""
    found = [document for document in WRITTEN if any(blocks(document, *languages))]
    assert found
    return pytest.mark.parametrize("document", found, ids=label)


@pytest.mark.slow("a process for each command of the documents")
@documents("console")
def test_examples_print_what_the_document_says(document: Path, tmp_path: Path) -> None:
    for block, now in examples.run(document, tmp_path):
        said = "".join(f"$ {one.command}\n{one.output}" for one in now)
        assert said == block.text, "run python -m tests.docs.examples"
        assert [one.command for one in now if not one.output] == []


@documents("sh", "console")
def test_commands_and_options_are_there(document: Path) -> None:
    root = typer.main.get_command(app)
    for block in blocks(document, "sh", "console"):
        for words in commands(block):
            assert unknown(root, words) == [], " ".join(words)


def commands(block: Block) -> Iterator[list[str]]:
    """The words of each command of ours in a block, without its name."""
    text = "".join(f"{one.command}\n" for one in examples_of(block.text)) or block.text
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars="|&;()")
        words.whitespace_split = True
        for first, part in groupby(words, key=lambda word: set(word) <= set("|&;()")):
            found = list(part)
            if not first and "barnabas" in found[:4]:
                yield found[found.index("barnabas") + 1 :]


def unknown(command: Any, words: list[str]) -> list[str]:
    """Commands and options that are not there."""
    options = {"-h", "--help"}
    for number, word in enumerate(words):
        if word == "--":
            break
        if word.startswith("-") and word != "-":
            options |= {each for one in command.params for each in (*one.opts, *one.secondary_opts)}
            if word.partition("=")[0] not in options:
                return [word]
        elif hasattr(command, "commands"):
            inner = command.get_command(None, word)
            if inner is None:
                return [word] if number == 0 or not words[number - 1].startswith("-") else []
            command = inner
    return []


@documents("yaml")
def test_yaml_loads(document: Path) -> None:
    for block in blocks(document, "yaml"):
        values = yaml.safe_load(block.text)
        plugins = any(word in document.read_text("utf-8") for word in ("--faults", "entry-points"))
        if "rules" in values and not plugins:
            loads(block.text)
        elif "target" in values:
            campaign_of(block.text, block.file or "campaign.yaml")
        elif "apiVersion" in values:
            kubernetes_validate.validate(values, "1.31", strict=True)


@documents("python")
def test_python_runs(document: Path, tmp_path: Path) -> None:
    """Blocks without a file, as one program; doctest's prompt is not used in them."""
    parts = [block.text for block in blocks(document, "python") if not block.file]
    if not parts:
        return
    examples.prepare(tmp_path)
    for block in blocks(document, "python"):
        if block.file:
            examples.place(block, tmp_path)
    (tmp_path / "program.py").write_text("\n".join(map(textwrap.dedent, parts)))
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
