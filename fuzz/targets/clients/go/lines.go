// What every client program in Go does: it says {"ready": true}; a line in is a session, "NUMBER WORKLOAD BOOTSTRAP TOPIC"; a line
// out is JSON with its number and how many records were consumed. Errors are values here, and a client may
// return any of them; a panic ends the process, and says on stderr where it came from.
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

// A workload gets bootstrap and topic and returns the number of records that it consumed.
type workload func(bootstrap, topic string) int

const (
	// What the bench's topic has: with these a session has seen all.
	allRecords = 14
	// For how long a session reads, and waits for anything else, at most.
	reading = 200 * time.Millisecond
	joining = 400 * time.Millisecond // so much longer if it joins a group first
	waiting = 700 * time.Millisecond
)

func main() {
	answers := os.Stdout
	os.Stdout = os.Stderr // what a library prints must not stand between the answers
	fmt.Fprintln(answers, `{"ready": true}`)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var number int
		var name, bootstrap, topic string
		if _, err := fmt.Sscan(lines.Text(), &number, &name, &bootstrap, &topic); err != nil {
			fmt.Fprintln(os.Stderr, "no session:", lines.Text())
			os.Exit(64)
		}
		records := 0
		if run := workloads[name]; run != nil {
			records = run(bootstrap, topic)
		}
		fmt.Fprintf(answers, "{\"number\": %d, \"records\": %d, \"raised\": null}\n", number, records)
	}
}
