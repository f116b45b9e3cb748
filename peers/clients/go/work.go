// Parameters and reports of a workload in Go, as in programs/work.py.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A workload's timeout passed without a result from the client.
type gaveUpError struct{ message string }

func (e gaveUpError) Error() string { return e.message }

// The library does not support the workload.
type notOfferedError struct{}

func (notOfferedError) Error() string { return "this library does not offer it" }

// A workload: its parameters, and the file to which it reports events.
type work struct {
	bootstrap       []string // addresses
	topics          []string
	group           string
	output          string // the topic to which read-process-write copies
	partitions      int    // of each topic
	ids             []string
	codecs          []string // compressions that the brokers know, as compression.type has them
	broker          string   // the brokers' version, for clients that must be configured with it; else empty
	settings        producerSettings
	rounds          []sends // that are awaited together, or are a transaction, in order
	ending          ending
	members         []member
	patience, pause time.Duration
	leaves          time.Time             // until then members stay in their group
	pollError       atomic.Pointer[error] // of the last poll that failed, if no record came later; clients continue after it
	reporting       sync.Mutex
	answers         *os.File
}

const (
	atOnce        = 5   // records that are read before their offsets are committed
	attempts      = 5   // at a transaction
	adminTopics   = 5   // topics that an administrator makes, changes and deletes
	messageLimit  = 200 // characters of a reported error
	checkInterval = 50 * time.Millisecond
)

type event map[string]any

func seconds(number float64) time.Duration { return time.Duration(number * float64(time.Second)) }

func newWork(t task, answers *os.File) *work {
	w := &work{bootstrap: strings.Split(t.Bootstrap, ","), topics: t.Work.Topics, group: t.Topic + "-group", output: t.Topic + "-out",
		partitions: t.Work.Partitions, settings: t.Work.Settings, rounds: t.Work.Rounds, ending: t.Work.Ending, members: t.Work.Members,
		codecs: t.Work.Codecs, broker: t.Work.Broker, answers: answers, patience: seconds(t.Work.Patience), pause: seconds(t.Work.Pause),
		leaves: time.Now().Add(seconds(t.Work.Stay))}
	for _, round := range w.rounds {
		for _, records := range round {
			for at := range records {
				if records[at].Topic == "" {
					records[at].Topic = t.Topic
				}
			}
		}
	}
	for number := range t.Work.Records {
		w.ids = append(w.ids, fmt.Sprintf("%s-%d", t.Topic, number))
	}
	return w
}

func (w *work) report(name string, facts event) {
	facts["event"] = name
	line, _ := json.Marshal(facts)
	w.reporting.Lock()
	defer w.reporting.Unlock()
	fmt.Fprintf(w.answers, "%s\n", line)
}

// Report that a record is handed to the client.
func (w *work) sent(record planned, transaction string) {
	facts := event{"id": record.ID, "topic": record.Topic}
	if transaction != "" {
		facts["transaction"] = transaction
	}
	if record.Producer != "" {
		facts["producer"] = record.Producer
	}
	w.report("sent", facts)
}

// Report an acknowledged record; a negative partition or offset is unknown.
func (w *work) acknowledged(record planned, partition int32, offset int64) {
	facts := event{"id": record.ID, "topic": record.Topic}
	if partition >= 0 {
		facts["partition"] = partition
	}
	if offset >= 0 {
		facts["offset"] = offset
	}
	w.report("acknowledged", facts)
}

// Report the client's error for a record; whether the record is written is unknown.
func (w *work) failed(record planned, err error) {
	message := []rune(err.Error())
	w.report("error", event{"id": record.ID, "topic": record.Topic, "message": string(message[:min(len(message), messageLimit)])})
}

// Report the outcome of a transaction.
func (w *work) ended(transaction, outcome string) {
	w.report("transaction", event{"transaction": transaction, "outcome": outcome})
}

// Report an offset that the group has committed.
func (w *work) committed(topic string, partition int32, offset int64) {
	w.report("offset_committed", event{"group": w.group, "topic": topic, "partition": partition, "offset": offset})
}

// Do a transaction for each round; each third is to be aborted.
func (w *work) transactions(do func(number int, round sends, aborts bool) error) error {
	for number, round := range w.rounds {
		if err := do(number, round, number%3 == 2); err != nil {
			return err
		}
	}
	return nil
}

// Share the rounds among producers, one for each compression.
func (w *work) coded(send func(codec string, rounds []sends) error) error {
	for at, codec := range w.codecs {
		rounds := []sends{}
		for number := at; number < len(w.rounds); number += len(w.codecs) {
			rounds = append(rounds, w.rounds[number])
		}
		if err := send(codec, rounds); err != nil {
			return err
		}
	}
	return nil
}

// Wait until a change is visible: brokers learn of it a little later.
func (w *work) waitUntilVisible(change string, visible func() (bool, error)) error {
	for until := time.Now().Add(w.patience); ; time.Sleep(checkInterval) {
		if yes, err := visible(); yes || err != nil {
			return err
		}
		if time.Now().After(until) {
			return gaveUpError{change + " is not to be seen"}
		}
	}
}
