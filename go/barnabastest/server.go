// Package barnabastest gives a Go test a Kafka proxy of its own: rules that break what passes, and
// assertions on what passed.
//
// The proxies are in one process, `barnabas serve-tests`, which the first test starts and which ends with
// the process of the tests, however that ends.
package barnabastest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Command starts barnabas. Set it before the first test; empty: see command.
var Command []string

// Options of `barnabas serve-tests`, such as "-b", "localhost:9092". Without them there is an embedded
// cluster, which all tests share.
var Options []string

// ready is what the server's ready line says.
type ready struct {
	Control   string `json:"control"`
	Token     string `json:"token"`
	Bootstrap string `json:"bootstrap"`
}

var server = sync.OnceValues(start)

// stdin is the server's, which ends when it is closed, as the garbage collector does with what nothing refers to.
var stdin io.Closer

// command returns the words that start barnabas. The first that is there: BARNABAS in the environment (split at
// spaces), Command, barnabas on the PATH, the wheel BARNABAS_WHEEL by uvx or pipx, the image BARNABAS_IMAGE by
// docker or podman.
func command() ([]string, error) {
	if given := strings.Fields(os.Getenv("BARNABAS")); len(given) > 0 {
		return given, nil
	}
	if len(Command) > 0 {
		return Command, nil
	}
	ways := [][]string{{"barnabas"}}
	if wheel := os.Getenv("BARNABAS_WHEEL"); wheel != "" {
		if !strings.Contains(wheel, "[") {
			wheel += "[control,peers]"
		}
		ways = append(ways, []string{"uvx", "--from", wheel, "barnabas"}, []string{"pipx", "run", "--spec", wheel, "barnabas"})
	}
	if image := os.Getenv("BARNABAS_IMAGE"); image != "" {
		for _, program := range []string{"docker", "podman"} {
			ways = append(ways, []string{program, "run", "--rm", "-i", "--network", "host", image})
		}
	}
	for _, words := range ways {
		if _, err := exec.LookPath(words[0]); err == nil {
			return words, nil
		}
	}
	return nil, errors.New("barnabas is not on the PATH: install it with the extras control and peers, or set BARNABAS_WHEEL " +
		"(its wheel, for uvx or pipx on the PATH) or BARNABAS_IMAGE (its image, for docker or podman on the PATH)")
}

// startSeconds returns how long barnabas may take to start: BARNABAS_START_SECONDS, or 300, since the first start
// may download or build programs.
func startSeconds() (float64, error) {
	text := os.Getenv("BARNABAS_START_SECONDS")
	if text == "" {
		return 300, nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds > 0 && seconds <= 1e6) {
		return 0, fmt.Errorf("BARNABAS_START_SECONDS is no number above 0, up to 1000000: %q", text)
	}
	return seconds, nil
}

// start starts the server. The pipe to its stdin is closed by the system when this process is gone, and
// then it ends.
func start() (ready, error) {
	words, err := command()
	if err != nil {
		return ready{}, err
	}
	seconds, err := startSeconds()
	if err != nil {
		return ready{}, err
	}
	words = append(append(words[:len(words):len(words)], "--until-eof", "serve-tests"), Options...)
	process := exec.Command(words[0], words[1:]...)
	process.Stderr = os.Stderr
	in, err := process.StdinPipe()
	if err != nil {
		return ready{}, err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return ready{}, err
	}
	if err := process.Start(); err != nil {
		return ready{}, fmt.Errorf("barnabas can't be started: %w", err)
	}
	reader := bufio.NewReader(out)
	timer := time.AfterFunc(time.Duration(seconds*float64(time.Second)), func() {
		process.Process.Kill()
		out.Close()
	})
	line, err := reader.ReadBytes('\n')
	if !timer.Stop() {
		return ready{}, fmt.Errorf("barnabas (%q) was not ready after %v s: set BARNABAS to the command that starts barnabas, "+
			"or BARNABAS_START_SECONDS to a longer time", words, seconds)
	}
	if err != nil {
		return ready{}, fmt.Errorf("barnabas was not ready (%q): %v", words, process.Wait())
	}
	go io.Copy(io.Discard, reader)
	var found struct{ Ready ready }
	if err := json.Unmarshal(line, &found); err != nil {
		return ready{}, fmt.Errorf("barnabas said %q: %w", line, err)
	}
	stdin = in
	return found.Ready, nil
}
