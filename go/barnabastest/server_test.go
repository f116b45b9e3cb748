package barnabastest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAProgramThatPrintsNothingIsNotWaitedForWithoutEnd(t *testing.T) {
	t.Setenv("BARNABAS", "sh -c cat")
	for seconds, expected := range map[string]string{
		"0.1":  "was not ready after 0.1 s: set BARNABAS to the command that starts barnabas, or BARNABAS_START_SECONDS to a longer time",
		"soon": `BARNABAS_START_SECONDS is no number above 0, up to 1000000: "soon"`,
		"NaN":  `BARNABAS_START_SECONDS is no number above 0, up to 1000000: "NaN"`,
		"-1":   `BARNABAS_START_SECONDS is no number above 0, up to 1000000: "-1"`,
	} {
		t.Setenv("BARNABAS_START_SECONDS", seconds)
		if _, err := start(); err == nil || !strings.HasSuffix(err.Error(), expected) {
			t.Errorf("%s: %v", seconds, err)
		}
	}
}

func TestHowBarnabasIsStarted(t *testing.T) {
	for _, each := range []struct{ onPath, command, wheel, image, expected string }{
		{"barnabas uvx", "python3  -m\tbarnabas", "", "", "python3 -m barnabas"},
		{"barnabas uvx", "", "a.whl", "", "barnabas"},
		{"uvx pipx docker", "", "a.whl", "a:1", "uvx --from a.whl[control,peers] barnabas"},
		{"pipx docker", "", "a.whl[tls]", "a:1", "pipx run --spec a.whl[tls] barnabas"},
		{"docker podman", "", "a.whl", "a:1", "docker run --rm -i --network host a:1"},
		{"podman", "", "", "a:1", "podman run --rm -i --network host a:1"},
		{"uvx pipx docker podman", "", "", "", "barnabas is not on the PATH: install it with the extras control and " +
			"peers, or set BARNABAS_WHEEL (its wheel, for uvx or pipx on the PATH) or BARNABAS_IMAGE (its image, for docker or podman on the PATH)"},
	} {
		folder := t.TempDir()
		for _, program := range strings.Fields(each.onPath) {
			if err := os.WriteFile(filepath.Join(folder, program), []byte("#!/bin/sh\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", folder)
		t.Setenv("BARNABAS", each.command)
		t.Setenv("BARNABAS_WHEEL", each.wheel)
		t.Setenv("BARNABAS_IMAGE", each.image)
		words, err := command()
		result := strings.Join(words, " ")
		if err != nil {
			result = err.Error()
		}
		if result != each.expected {
			t.Errorf("%+v: %q", each, result)
		}
	}
}
