// Package barnabastest gives a Go test a Kafka proxy of its own: rules that break what passes, and
// assertions on what passed.
//
// The proxies are in one process, `barnabas serve-tests`, which the first test starts and which ends with
// the process of the tests, however that ends.
package barnabastest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// Command starts barnabas. To be set before the first test; BARNABAS in the environment has the same,
// split at spaces.
var Command = []string{"barnabas"}

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

// start starts the server. The pipe to its stdin is closed by the system when this process is gone, and
// then it ends.
func start() (ready, error) {
	command := Command
	if given := strings.Fields(os.Getenv("BARNABAS")); len(given) > 0 {
		command = given
	}
	arguments := append(append(command[1:len(command):len(command)], "--until-eof", "serve-tests"), Options...)
	process := exec.Command(command[0], arguments...)
	process.Stderr = os.Stderr
	if _, err := process.StdinPipe(); err != nil {
		return ready{}, err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return ready{}, err
	}
	if err := process.Start(); err != nil {
		return ready{}, fmt.Errorf("barnabas can't be started (install barnabas with the extras 'control,peers'): %w", err)
	}
	reader := bufio.NewReader(out)
	line, err := reader.ReadBytes('\n')
	if err != nil {
		return ready{}, fmt.Errorf("barnabas was not ready: %v", process.Wait())
	}
	go io.Copy(io.Discard, reader)
	var found struct{ Ready ready }
	if err := json.Unmarshal(line, &found); err != nil {
		return ready{}, fmt.Errorf("barnabas said %q: %w", line, err)
	}
	return found.Ready, nil
}
