// What every client program in Go does: it says {"ready": true}; a line in is a session, "NUMBER WORKLOAD BOOTSTRAP TOPIC API",
// with the API of the case or -, or "NUMBER over": nothing more is wanted of it, and its context ends. A line out is JSON with its number and how many
// records were consumed. Errors are values here, and a client may return any of them; a panic ends the process, and
// says on stderr where it came from.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
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
	ctx                                 context.Context
	number, name, bootstrap, topic, api string
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
		first = one.api
		if run := workloads[one.name]; run != nil {
			records = run(one.ctx, one.bootstrap, one.topic)
		}
		fmt.Fprintf(answers, "{\"number\": %s, \"records\": %d, \"raised\": null}\n", one.number, records)
	}
}

func listen(sessions chan<- session) {
	defer close(sessions)
	number, over := "", func() {}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 2 && words[1] == "over":
			if words[0] == number {
				over()
			}
		case len(words) == 5:
			over()
			var ctx context.Context
			number = words[0]
			ctx, over = context.WithCancel(context.Background())
			sessions <- session{ctx, number, words[1], words[2], words[3], words[4]}
		default:
			fmt.Fprintln(os.Stderr, "no session:", lines.Text())
			os.Exit(64)
		}
	}
	over()
}
