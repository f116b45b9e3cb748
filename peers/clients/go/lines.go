// The main program of every client in Go, as programs/lines.py documents it: a line of the input is a session or a workload, or ends a
// session's context. Sessions ignore errors, since a client may return any of them; workloads return them. A panic ends the process and
// prints its stack on stderr.
package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// A session gets bootstrap and topic and returns the number of records that it consumed.
type session func(ctx context.Context, bootstrap, topic string) int

// A workload does the same as the one of programs/workloads.py.
type workload func(*work) error

const (
	// The records in the bench's topic: a session that has read them is finished.
	allRecords = 14
	// The longest that a session reads, or waits for anything else: the bench usually ends it earlier.
	reading = time.Second
	joining = 500 * time.Millisecond // additional time for a session that joins a group first
	waiting = 1500 * time.Millisecond
	// Records of a session to report; bytes of a key or a value: longer ones are reported by a digest.
	reportedRecords = 64
	reportedBytes   = 64
	// Bytes of a line: a plan of 20,000 records takes less than a tenth.
	longestLine = 64 << 20
)

// A line of the input.
type task struct {
	ctx                        context.Context
	Number                     int
	Run, Bootstrap, Topic, API string
	Over                       bool
	Work                       *struct {
		Topics                []string
		Records, Partitions   int
		Patience, Pause, Stay float64
		Codecs                []string
		Broker                string
		Settings              producerSettings
		Rounds                []sends
		Ending                ending
		Members               []member
	}
}

// The API of the session's case: an administrator sends its requests first.
var first string

func main() {
	answers := os.Stdout
	os.Stdout = os.Stderr // a library's output must not be mixed with the answers
	lines := make(chan task)
	go listen(lines)
	fmt.Fprintln(answers, `{"ready": true}`)
	for t := range lines {
		records, raised, reports := 0, []byte("null"), ""
		first = t.API
		if t.Work != nil {
			run := workloads[t.Run]
			if run == nil {
				run = func(*work) error { return notOfferedError{} }
			}
			if err := run(newWork(t, answers)); err != nil {
				raised, _ = json.Marshal(map[string]any{"class": errorName(err), "bases": []string{errorName(err)}, "message": err.Error(),
					"frames": []string{}, "where": "call"})
			}
		} else if run := sessions[t.Run]; run != nil {
			records = run(t.ctx, t.Bootstrap, t.Topic)
			reports = fmt.Sprintf(", \"delivered\": %s", delivered.taken())
		}
		fmt.Fprintf(answers, "{\"number\": %d, \"records\": %d, \"raised\": %s%s}\n", t.Number, records, raised, reports)
	}
}

// The records that the application received in this session, as programs/lines.py reports them.
var delivered deliveries

type deliveries struct {
	mu      sync.Mutex
	records [][]any
}

// A record; headers: the name and the value of each.
func (d *deliveries) add(partition int32, offset int64, at time.Time, key, value []byte, headers ...[2][]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.records) == reportedRecords {
		return
	}
	texts := [][]any{}
	for _, header := range headers {
		texts = append(texts, []any{string(header[0]), text(header[1])})
	}
	d.records = append(d.records, []any{partition, offset, max(at.UnixMilli(), -1), text(key), text(value), texts})
}

func (d *deliveries) taken() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	line, _ := json.Marshal(append([][]any{}, d.records...))
	d.records = nil
	return line
}

func text(data []byte) any {
	switch {
	case data == nil:
		return nil
	case len(data) <= reportedBytes:
		return hex.EncodeToString(data)
	}
	return fmt.Sprintf("%d bytes %x", len(data), sha256.Sum256(data))
}

func listen(lines chan<- task) {
	defer close(lines)
	number, over := -1, func() {}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, longestLine)
	for in.Scan() {
		var t task
		if err := json.Unmarshal(in.Bytes(), &t); err != nil {
			fmt.Fprintln(os.Stderr, "not a task:", in.Text())
			os.Exit(64)
		}
		if t.Over {
			if t.Number == number {
				over()
			}
			continue
		}
		over()
		number = t.Number
		t.ctx, over = context.WithCancel(context.Background())
		lines <- t
	}
	over()
}

// Return the name of an error's type, or of the error that it only adds text to. Ours have the names of programs/work.py.
func errorName(err error) string {
	switch err.(type) {
	case gaveUpError:
		return "GaveUpError"
	case notOfferedError:
		return "NotOfferedError"
	}
	for {
		name := fmt.Sprintf("%T", err)
		switch wraps := err.(type) {
		case interface{ Unwrap() []error }: // of several: of the first
			err = wraps.Unwrap()[0]
		case interface{ Unwrap() error }:
			if name != "*fmt.wrapError" {
				return name
			}
			err = wraps.Unwrap()
		default:
			return name
		}
	}
}
