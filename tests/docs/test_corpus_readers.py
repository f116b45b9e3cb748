"""The readers of docs/howto/corpus.md, in four languages, on a corpus of one API."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.barnabas.cli.command import run
from tests.docs.documents import blocks
from tests.places import ROOT

PAGE = ROOT / "docs" / "howto" / "corpus.md"

GO = """package golden

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
)

func Decode(t *testing.T, key, version int16, direction string, body []byte, values map[string]any) {
	println("frame", key, version)
}

func DecodeResponse(key, version int16, frame []byte) { println("frame", key, version) }

%s
"""
RUST = """fn read_response(key: i16, version: i16, _frame: &[u8]) { println!("frame {key} {version}"); }
%s
"""
JAVA = """import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.*;

class Golden {
    static void read(String api, short version, boolean request, ByteBuffer frame) {
        System.out.println("frame " + (api.equals("Heartbeat") ? 12 : -1) + " " + version);
    }
%s
}
"""
C = """%s
#include <stdio.h>

void read_request(int16_t key, int16_t version, const uint8_t *frame, size_t size) {
    printf("frame %%d %%d\\n", key, version);
}

int main(int count, char **names) {
    for (int number = 1; number < count; number++) {
        static uint8_t data[1 << 20];
        FILE *file = fopen(names[number], "rb");
        LLVMFuzzerTestOneInput(data, fread(data, 1, sizeof data, file));
    }
}
"""
HEARTBEAT = 12


class Reader(NamedTuple):
    """A language: the program around the page's blocks, its file, the commands, the frames that it reads."""

    language: str
    program: str
    file: str
    commands: tuple[str, ...]
    frames: str


READERS = (
    Reader("go", GO, "golden_test.go", ("go mod init golden", "go test -v ./..."), "both"),
    Reader("rust", RUST, "golden.rs", ("rustc golden.rs", "./golden"), "responses"),
    Reader("java", JAVA, "Golden.java", ("java Golden.java",), "full"),
    Reader(
        "c", C, "fuzz.c", ("gcc -o fuzz fuzz.c", "./fuzz corpus/libfuzzer/requests/*"), "requests"
    ),
)


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("corpora")
    for name in ("files", "jsonl"):
        done = run(
            "spec", "corpus", "--out", str(folder / name), "--api", "Heartbeat", "--format", name
        )
        assert (done.returncode, done.stderr) == (0, "")
    return {name: folder / name for name in ("files", "jsonl")}


@pytest.mark.slow("compilers, and Kafka's classes in a JVM")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.language)
def test_a_reader_of_the_page_reads_every_frame(
    reader: Reader, corpora: dict[str, Path], tmp_path: Path
) -> None:
    program = reader.commands[0].split()[0]
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    corpus = corpora["jsonl" if reader.language == "go" else "files"]
    shutil.copytree(corpus, tmp_path / ("files" if reader.language == "java" else "corpus"))
    if reader.language == "go":
        shutil.copytree(corpus / "go", tmp_path / "testdata" / "fuzz")
    source = "\n".join(block.text for block in blocks(PAGE, reader.language))
    (tmp_path / reader.file).write_text(reader.program % source)
    output = ""
    for command in reader.commands:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        output = done.stdout + done.stderr
    seen = [line.split()[1:] for line in output.splitlines() if line.startswith("frame ")]
    lines = _lines(corpora["jsonl"])
    responses = [line for line in lines if line["direction"] == "response"]
    expected = {
        "both": lines + responses,
        "responses": responses,
        "full": [line for line in lines if line["case"] == "full"],
        "requests": [line for line in lines if line["direction"] == "request"],
    }[reader.frames]
    assert sorted(seen) == sorted([str(HEARTBEAT), str(line["version"])] for line in expected)


def _lines(corpus: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (corpus / "frames.jsonl").read_text().splitlines()]


@pytest.mark.slow("Kafka's classes in a JVM")
def test_files_and_lines_have_the_same_frames(corpora: dict[str, Path]) -> None:
    lines = _lines(corpora["jsonl"])
    assert lines
    for line in lines:
        path = f"{line['api']}/v{line['version']}/{line['direction']}-{line['case']}"
        file = corpora["files"] / "frames" / path
        assert Path(f"{file}.bin").read_bytes().hex() == line["header"] + line["hex"]
        assert json.loads(Path(f"{file}.json").read_text()) == line
        assert line["kafka"]
    manifests = [json.loads((each / "manifest.json").read_text()) for each in corpora.values()]
    assert manifests[0] == manifests[1]
    assert manifests[0]["verifiedFrames"] == manifests[0]["frames"] == len(lines)
