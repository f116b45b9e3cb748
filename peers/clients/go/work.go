// What every workload in Go is given, as programs/work.py has it: what is wanted of it, and who is told what happens.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// Given back by a workload that waited longer than it is told to.
type gaveUpError struct{ what string }

func (one gaveUpError) Error() string { return one.what }

// Given back where the library can't do what is asked for.
type notOfferedError struct{}

func (notOfferedError) Error() string { return "this library does not offer it" }

// What a workload is to do, and who is told.
type work struct {
	bootstrap       []string // addresses
	topic, group    string
	output          string // the topic to which read-process-write copies
	partitions      int    // of both topics
	ids             []string
	codecs          []string // compressions that the brokers know, as compression.type has them
	broker          string   // the brokers' version, where clients have to be told; else empty
	settings        producerSettings
	rounds          []sends // that are awaited together, or are a transaction, in order
	patience, pause time.Duration
	leaves          time.Time
	speaking        sync.Mutex
	answers         *os.File
}

const (
	atOnce   = 5 // records that are read before their offsets are committed
	attempts = 5 // at a transaction
	rounds   = 5 // topics that an administrator makes, changes and deletes
)

type event map[string]any

func newWork(one asked, answers *os.File) *work {
	seconds := func(number float64) time.Duration { return time.Duration(number * float64(time.Second)) }
	found := &work{bootstrap: strings.Split(one.Bootstrap, ","), topic: one.Topic, group: one.Topic + "-group", output: one.Topic + "-out",
		partitions: one.Work.Partitions, settings: one.Work.Settings, rounds: one.Work.Rounds, codecs: one.Work.Codecs, broker: one.Work.Broker, answers: answers,
		patience: seconds(one.Work.Patience), pause: seconds(one.Work.Pause), leaves: time.Now().Add(seconds(one.Work.Stay))}
	for _, each := range found.rounds {
		for _, records := range each {
			for at := range records {
				if records[at].Topic == "" {
					records[at].Topic = one.Topic
				}
			}
		}
	}
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

func (w *work) sent(topic, id, transaction string) {
	facts := event{"id": id, "topic": topic}
	if transaction != "" {
		facts["transaction"] = transaction
	}
	w.tell("sent", facts)
}

func (w *work) acknowledged(topic, id string, partition int32, offset int64) {
	facts := event{"id": id, "topic": topic, "partition": partition}
	if offset >= 0 {
		facts["offset"] = offset
	}
	w.tell("acknowledged", facts)
}

func (w *work) ended(transaction, outcome string) {
	w.tell("transaction", event{"transaction": transaction, "outcome": outcome})
}

func (w *work) committed(topic string, partition int32, offset int64) {
	w.tell("offset_committed", event{"group": w.group, "topic": topic, "partition": partition, "offset": offset})
}

// The rounds, for a transaction each; and whether it is aborted on purpose.
func (w *work) transactions(do func(number int, round sends, aborts bool) error) error {
	for number, round := range w.rounds {
		if err := do(number, round, number%3 == 2); err != nil {
			return err
		}
	}
	return nil
}

// The rounds, for a producer of each compression.
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

// Looks until it is so: what was changed is seen a little later.
func (w *work) shown(what string, look func() (bool, error)) error {
	for until := time.Now().Add(w.patience); ; time.Sleep(50 * time.Millisecond) {
		if found, err := look(); found || err != nil {
			return err
		}
		if time.Now().After(until) {
			return gaveUpError{what + " is not to be seen"}
		}
	}
}
