"""Toxiproxy's own tests of its API and of its client in Go, with barnabas as the server.

They start a server in their process, and clear it between two tests. So what they call for that is another
function here; the rest of their files is as it is.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.proxy.toxiproxy.processes import MODULE, VERSION, barnabas, build, go_run

WITH_SERVER = """
func WithServer(t *testing.T, f func(string)) {
	proxies, err := client.Proxies()
	if err != nil {
		t.Fatal(err)
	}
	for _, proxy := range proxies {
		if err := proxy.Delete(); err != nil {
			t.Fatal(err)
		}
	}
	f("http://localhost:8475")
}
"""


def sources(folder: Path) -> Path:
    """Return a copy of the module as Go has it."""
    build(["mod", "download", f"{MODULE}@v{VERSION}"], folder)
    cache = go_run(["env", "GOMODCACHE"]).stdout.strip()
    # capitals are written with ! in a cache
    found = Path(cache) / f"github.com/!shopify/toxiproxy/v2@v{VERSION}"
    copy = folder / "module"
    shutil.copytree(found, copy)
    for path in [copy, *copy.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return copy


@pytest.mark.alone
@pytest.mark.slow("builds toxiproxy's tests with Go")
@pytest.mark.timeout(600)
def test_toxiproxys_tests_of_its_api_pass_with_barnabas(tmp_path: Path) -> None:
    module = sources(tmp_path)
    with barnabas("--log", "off") as ours:
        file = module / "api_test.go"
        text = file.read_text()
        begin = text.index("func WithServer")
        end = text.index("\nfunc Test", begin)
        text = text[:begin] + WITH_SERVER + text[end:]
        text = text.replace("var testServer *toxiproxy.ApiServer\n", "")
        text = text.replace("8475", str(ours["port"])).replace('\\"git\\"', f'\\"{VERSION}\\"')
        for unused in (
            '"flag"',
            '"os"',
            '"time"',
            '"github.com/.*prometheus"',
            '"github.com/.*zerolog"',
        ):
            text = re.sub(rf"\n\t{unused}", "", text)
        text = text.replace(f'\n\t"{MODULE}"', "")
        file.write_text(text)
        names = re.findall(r"^func (Test\w+)", text, re.MULTILINE)
        assert len(names) > 30
        run = f"^({'|'.join(names)})$"
        done = go_run(["test", "-count=1", "-v", "-run", run, "."], module)
    passed = re.findall(r"^--- PASS: (\w+)", done.stdout, re.MULTILINE)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert sorted(passed) == sorted(names)
