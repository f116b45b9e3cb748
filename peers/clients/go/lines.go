// What every client program in Go does, as programs/lines.py says it: a line in is a session or a workload, or says that nothing more is
// wanted of it, and its context ends. Errors are values here, and a client may return any of them; a panic ends the process, and says on
// stderr where it came from.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// A workload gets bootstrap and topic and returns the number of records that it consumed.
type workload func(ctx context.Context, bootstrap, topic string) int

const (
	// What the bench's topic has: with these a session has seen all.
	allRecords = 14
	// For how long a session reads, and waits for anything else, at most: far longer than it takes, since the
	// bench says when it is over.
	reading = time.Second
	joining = 500 * time.Millisecond // so much longer if it joins a group first
	waiting = 1500 * time.Millisecond
)

type session struct {
	ctx                        context.Context
	Number                     int
	Run, Bootstrap, Topic, API string
	Over                       bool
}

// The API of the session's case: an administrator asks for it first, and then for all else.
var first string

func main() {
	answers := os.Stdout
	os.Stdout = os.Stderr // what a library prints must not stand between the answers
	sessions := make(chan session)
	go listen(sessions)
	fmt.Fprintln(answers, `{"ready": true}`)
	for one := range sessions {
		records := 0
		first = one.API
		if run := workloads[one.Run]; run != nil {
			records = run(one.ctx, one.Bootstrap, one.Topic)
		}
		fmt.Fprintf(answers, "{\"number\": %d, \"records\": %d, \"raised\": null}\n", one.Number, records)
	}
}

func listen(sessions chan<- session) {
	defer close(sessions)
	number, over := -1, func() {}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var one session
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			fmt.Fprintln(os.Stderr, "no session:", lines.Text())
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
		sessions <- one
	}
	over()
}
