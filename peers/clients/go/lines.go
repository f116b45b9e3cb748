// What every client program in Go does, as programs/lines.py says it: a line in is a session or a workload, or says that nothing more is
// wanted of it, and its context ends. Errors are values here: sessions leave them alone, since a client may return any of them, and
// workloads return them. A panic ends the process, and says on stderr where it came from.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// A session gets bootstrap and topic and returns the number of records that it consumed.
type session func(ctx context.Context, bootstrap, topic string) int

// A workload does what programs/*_workloads.py do.
type workload func(*work) error

const (
	// What the bench's topic has: with these a session has seen all.
	allRecords = 14
	// For how long a session reads, and waits for anything else, at most: far longer than it takes, since the
	// bench says when it is over.
	reading = time.Second
	joining = 500 * time.Millisecond // so much longer if it joins a group first
	waiting = 1500 * time.Millisecond
)

type asked struct {
	ctx                        context.Context
	Number                     int
	Run, Bootstrap, Topic, API string
	Over                       bool
	Work                       *struct {
		Records, Partitions   int
		Patience, Pause, Stay float64
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
		records, raised := 0, []byte("null")
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
		}
		fmt.Fprintf(answers, "{\"number\": %d, \"records\": %d, \"raised\": %s}\n", one.Number, records, raised)
	}
}

func listen(lines chan<- asked) {
	defer close(lines)
	number, over := -1, func() {}
	in := bufio.NewScanner(os.Stdin)
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
		wraps, ok := err.(interface{ Unwrap() error })
		if name != "*fmt.wrapError" || !ok {
			return name
		}
		err = wraps.Unwrap()
	}
}

// Given back by a workload that waited longer than it is told to.
type gaveUpError struct{ what string }

func (one gaveUpError) Error() string { return one.what }

// Given back where the library can't do what is asked for.
type notOfferedError struct{}

func (notOfferedError) Error() string { return "this library does not offer it" }

// What a workload is to do, and who is told.
type work struct {
	bootstrap, topic, group string
	output                  string // the topic to which read-process-write copies
	partitions              int    // of both topics
	ids                     []string
	patience, pause         time.Duration
	leaves                  time.Time
	speaking                sync.Mutex
	answers                 *os.File
}

const (
	atOnce   = 5 // records of a transaction, and that are read before their offsets are committed
	attempts = 5 // at a transaction
)

type event map[string]any

func newWork(one asked, answers *os.File) *work {
	seconds := func(number float64) time.Duration { return time.Duration(number * float64(time.Second)) }
	found := &work{bootstrap: one.Bootstrap, topic: one.Topic, group: one.Topic + "-group", output: one.Topic + "-out",
		partitions: one.Work.Partitions, answers: answers,
		patience: seconds(one.Work.Patience), pause: seconds(one.Work.Pause), leaves: time.Now().Add(seconds(one.Work.Stay))}
	for number := 0; number < one.Work.Records; number++ {
		found.ids = append(found.ids, fmt.Sprintf("%s-%d", one.Topic, number))
	}
	return found
}

func (w *work) tell(what string, facts event) {
	facts["event"] = what
	line, _ := json.Marshal(facts)
	w.speaking.Lock()
	defer w.speaking.Unlock()
	fmt.Fprintf(w.answers, "%s\n", line)
}

func (w *work) sent(id, transaction string) {
	facts := event{"id": id, "topic": w.topic}
	if transaction != "" {
		facts["transaction"] = transaction
	}
	w.tell("sent", facts)
}

func (w *work) acknowledged(id string, partition int32, offset int64) {
	facts := event{"id": id, "topic": w.topic, "partition": partition}
	if offset >= 0 {
		facts["offset"] = offset
	}
	w.tell("acknowledged", facts)
}

func (w *work) ended(transaction, outcome string) {
	w.tell("transaction", event{"transaction": transaction, "outcome": outcome})
}

func (w *work) consumer() {
	w.tell("consumer", event{"consumer": "reader", "group": w.group, "isolation": "read_uncommitted", "reset": "earliest"})
}

func (w *work) assigned(topic string, partition int32) {
	w.tell("assigned", event{"consumer": "reader", "topic": topic, "partition": partition})
}

func (w *work) consumed(topic string, partition int32, offset int64, value []byte) {
	w.tell("consumed", event{"consumer": "reader", "id": string(value), "topic": topic, "partition": partition, "offset": offset})
}

func (w *work) committed(topic string, partition int32, offset int64) {
	w.tell("offset_committed", event{"group": w.group, "topic": topic, "partition": partition, "offset": offset})
}

// The ids, for a transaction each; and whether it is aborted on purpose.
func (w *work) batches(do func(number int, ids []string, aborts bool) error) error {
	for at, number := 0, 0; at < len(w.ids); at, number = at+atOnce, number+1 {
		if err := do(number, w.ids[at:min(at+atOnce, len(w.ids))], number%3 == 2); err != nil {
			return err
		}
	}
	return nil
}

// What a reader still waits for: says when it is done, and when it has waited too long.
type missing struct {
	w     *work
	ids   map[string]bool
	until time.Time
}

func (w *work) missing() *missing {
	found := &missing{w, map[string]bool{}, time.Now().Add(w.patience)}
	for _, id := range w.ids {
		found.ids[id] = true
	}
	return found
}

func (m *missing) goesOn() (bool, error) {
	if len(m.ids) == 0 && time.Now().After(m.w.leaves) {
		return false, nil
	}
	if time.Now().After(m.until) {
		return false, gaveUpError{fmt.Sprintf("%d records were not delivered", len(m.ids))}
	}
	return true, nil
}
