// What every client program in Go does, as programs/lines.py says it: a line in is a session or a workload, or says that nothing more is
// wanted of it, and its context ends. Errors are values here: sessions leave them alone, since a client may return any of them, and
// workloads return them. A panic ends the process, and says on stderr where it came from.
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

// A workload does what those of programs/workloads.py do; work.go is what it is given.
type workload func(*work) error

const (
	// What the bench's topic has: with these a session has seen all.
	allRecords = 14
	// For how long a session reads, and waits for anything else, at most: far longer than it takes, since the
	// bench says when it is over.
	reading = time.Second
	joining = 500 * time.Millisecond // so much longer if it joins a group first
	waiting = 1500 * time.Millisecond
	// Records of a session to report; bytes of a key or a value: longer ones are reported by a digest.
	kept  = 64
	short = 64
	// Bytes of a line: a plan of 20,000 records takes less than a tenth.
	longestLine = 64 << 20
)

type asked struct {
	ctx                        context.Context
	Number                     int
	Run, Bootstrap, Topic, API string
	Over                       bool
	Work                       *struct {
		Records, Partitions   int
		Patience, Pause, Stay float64
		Codecs                []string
		Broker                string
		Settings              producerSettings
		Rounds                []sends
	}
}

// The API of the session's case: an administrator asks for it first, and then for all else.
var first string

func main() {
	answers := os.Stdout
	os.Stdout = os.Stderr // what a library prints must not stand between the answers
	lines := make(chan asked)
	go listen(lines)
	fmt.Fprintln(answers, `{"ready": true}`)
	for one := range lines {
		records, raised, reports := 0, []byte("null"), ""
		first = one.API
		if one.Work != nil {
			run := workloads[one.Run]
			if run == nil {
				run = func(*work) error { return notOfferedError{} }
			}
			if err := run(newWork(one, answers)); err != nil {
				raised, _ = json.Marshal(map[string]any{"class": kind(err), "bases": []string{kind(err)}, "message": err.Error(),
					"frames": []string{}, "where": "call"})
			}
		} else if run := sessions[one.Run]; run != nil {
			records = run(one.ctx, one.Bootstrap, one.Topic)
			reports = fmt.Sprintf(", \"delivered\": %s", delivered.taken())
		}
		fmt.Fprintf(answers, "{\"number\": %d, \"records\": %d, \"raised\": %s%s}\n", one.Number, records, raised, reports)
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
	if len(d.records) == kept {
		return
	}
	named := [][]any{}
	for _, one := range headers {
		named = append(named, []any{string(one[0]), text(one[1])})
	}
	d.records = append(d.records, []any{partition, offset, max(at.UnixMilli(), -1), text(key), text(value), named})
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
	case len(data) <= short:
		return hex.EncodeToString(data)
	}
	return fmt.Sprintf("%d bytes %x", len(data), sha256.Sum256(data))
}

func listen(lines chan<- asked) {
	defer close(lines)
	number, over := -1, func() {}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, longestLine)
	for in.Scan() {
		var one asked
		if err := json.Unmarshal(in.Bytes(), &one); err != nil {
			fmt.Fprintln(os.Stderr, "no session:", in.Text())
			os.Exit(64)
		}
		if one.Over {
			if one.Number == number {
				over()
			}
			continue
		}
		over()
		number = one.Number
		one.ctx, over = context.WithCancel(context.Background())
		lines <- one
	}
	over()
}

// The name of an error's type, of that which it wraps where it is only text around it; ours are called as programs/work.py calls them.
func kind(err error) string {
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
