"""The cache and what goes wrong; a real download is part of the tests of the cluster."""

from __future__ import annotations

import sys
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from barnabas.peers.apache import artifacts
from barnabas.peers.apache.artifacts import class_path, repository
from barnabas.peers.apache.errors import UnavailableError

ONE = "org.example:one:1.0"
POM = """<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId>
<artifactId>{name}</artifactId><version>1.0</version><dependencies>{needs}</dependencies></project>"""
NEEDS = """<dependency><groupId>org.example</groupId><artifactId>{}</artifactId><version>1.0</version>
<scope>{}</scope></dependency>"""


class Answer:
    def __init__(self, content: bytes, status: int = 200) -> None:
        self.content, self.status_code, self.text = content, status, ""
        self.headers = {"content-length": str(len(content))}

    def iter_content(self, chunk_size: int) -> list[bytes]:
        return [self.content]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("M2_REPO", raising=False)
    return tmp_path / "barnabas"


METADATA = """<metadata><groupId>org.example</groupId><artifactId>one</artifactId><versioning>
<versions>{}</versions></versioning></metadata>""".format(
    "".join(f"<version>1.{minor}</version>" for minor in range(10))
)


def a_jar(path: Path) -> bytes:
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("A.class", b"x" * 2000)
    return path.read_bytes()


@pytest.fixture
def central(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A repository with `one`, which needs `two` to run and `three` for its tests; what was asked."""
    http = pytest.importorskip("jgo.util.http")
    jar = a_jar(tmp_path / "a.jar")
    needs = {
        "one": (("two", "runtime"), ("three", "test"), ("five", "provided")),
        "seven": (("four", "runtime"),),
        **dict.fromkeys(("two", "three", "five", "six"), ()),
    }
    files = {f"{name}/1.0/{name}-1.0.jar": jar for name in ("one", "two", "six")}
    for name, several in needs.items():
        text = POM.format(name=name, needs="".join(NEEDS.format(*need) for need in several))
        files[f"{name}/1.0/{name}-1.0.pom"] = text.encode()
    files["one/maven-metadata.xml"] = METADATA.encode()
    asked: list[str] = []

    def get(url: str, **options: object) -> Answer:
        path = url.partition("org/example/")[2]
        asked.append(path)
        return Answer(files[path]) if path in files else Answer(b"", 404)

    monkeypatch.setattr(http, "get", get)
    return asked


def test_what_it_takes_to_run_is_downloaded_once(
    central: list[str], cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jars = class_path([ONE])
    assert [jar.relative_to(cache / "maven").as_posix() for jar in jars] == [
        "org/example/one/1.0/one-1.0.jar",
        "org/example/two/1.0/two-1.0.jar",
    ]
    assert capsys.readouterr().err == f"resolving {ONE} ...\n"
    central.clear()
    assert class_path([ONE]) == jars
    assert (central, capsys.readouterr().err) == ([], "")


@pytest.mark.parametrize(
    "spoil", [Path.unlink, lambda jar: jar.write_bytes(jar.read_bytes()[:-30])]
)
def test_a_jar_that_is_gone_or_cut_off_is_downloaded_again(
    spoil: Callable[[Path], object], central: list[str], cache: Path
) -> None:
    jars = class_path([ONE])
    for note in (cache / "classpaths").glob("*.json"):
        note.unlink()  # as if the download had been interrupted
    spoil(jars[1])
    central.clear()
    assert class_path([ONE]) == jars
    assert zipfile.is_zipfile(jars[1])
    assert [path for path in central if path.endswith(".jar")] == ["two/1.0/two-1.0.jar"]


def test_what_may_need_the_same_is_downloaded_one_after_the_other(
    central: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    both, download = threading.Barrier(2), artifacts._download

    def downloading(coordinates: list[str]) -> tuple[Path, ...]:
        with pytest.raises(threading.BrokenBarrierError):
            both.wait(0.1)
        return download(coordinates)

    monkeypatch.setattr(artifacts, "_download", downloading)
    wanted = [ONE], [ONE, "org.example:six:1.0"]
    with ThreadPoolExecutor() as pool:
        assert [len(jars) for jars in pool.map(class_path, wanted)] == [2, 3]


OLDER = "it has 1.9, 1.8, 1.7, 1.6, 1.5, 1.4, 1.3, 1.2 and 2 older ones"


@pytest.mark.parametrize(("wanted", "said"), [
    ("one:9.9", f"Maven Central has no one 9.9; {OLDER}"),
    ("four:1.0", "Maven Central has no four 1.0"),
    ("seven:1.0", "Maven Central lacks a part of org.example:seven:1.0 org.example:six:1.0: "
     "Artifact org.example:seven:jar:1.0"),
])  # fmt: skip
def test_a_release_that_is_none_is_told_with_those_that_there_are(
    central: list[str], wanted: str, said: str
) -> None:
    with pytest.raises(UnavailableError) as caught:
        class_path([f"org.example:{wanted}", "org.example:six:1.0"])
    assert str(caught.value) == said


def test_no_network_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    requests = pytest.importorskip("requests")

    def get(url: str, **options: object) -> Answer:
        raise requests.exceptions.ConnectionError("name resolution\nfailed" + "x" * 1000)

    monkeypatch.setattr(pytest.importorskip("jgo.util.http"), "get", get)
    with pytest.raises(
        UnavailableError, match=r"could not download .*no answer .*ConnectionError"
    ) as caught:
        class_path([ONE])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 150


def test_without_jgo_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jgo.maven", None)
    with pytest.raises(UnavailableError, match=r"barnabas with the extra 'apache'"):
        class_path([ONE])


def test_a_repository_of_ones_own_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("M2_REPO", str(tmp_path / "own"))
    assert repository() == tmp_path / "own"


def test_a_jar_missing_from_a_noted_class_path_is_downloaded(central: list[str]) -> None:
    jars = class_path([ONE])
    jars[0].unlink()
    assert class_path([ONE]) == jars
    assert jars[0].exists()
