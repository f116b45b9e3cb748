// What every consumer in Go tells, and for how long it goes on, as programs/work.py has it.
package main

import (
	"fmt"
	"sync"
	"time"
)

// A consumer that tells what it is given.
type reader struct {
	w    *work
	name string // its client id, too
}

// What it is: group, isolation and share, if they are not none, read_uncommitted and false.
func (w *work) reader(name string, what event) *reader {
	facts := event{"consumer": name, "isolation": "read_uncommitted", "reset": "earliest"}
	for fact, value := range what {
		facts[fact] = value
	}
	w.tell("consumer", facts)
	return &reader{w, name}
}

func (r *reader) at(what, topic string, partition int32, facts event) {
	facts["consumer"], facts["topic"], facts["partition"] = r.name, topic, partition
	r.w.tell(what, facts)
}

// A partition that it was assigned, or in which it has sought.
func (r *reader) assigned(topic string, partition int32) {
	r.at("assigned", topic, partition, event{})
}

func (r *reader) consumed(topic string, partition int32, offset int64, value []byte) {
	r.at("consumed", topic, partition, event{"id": string(value), "offset": offset})
}

// A record of a share group whose acknowledgement it knows to be taken.
func (r *reader) accepted(topic string, partition int32, offset int64) {
	r.at("accepted", topic, partition, event{"offset": offset})
}

// The records that no consumer was given yet, or that are not copied yet.
type missing struct {
	w      *work
	leaves time.Time // until then consumers go on when they have all
	until  time.Time
	mu     sync.Mutex
	ids    map[string]bool
	begun  bool
	ended  bool
}

// stays: whether consumers go on for a while when they have all, as members of groups do, who meet faults while they heartbeat.
func (w *work) missing(stays bool) *missing {
	found := &missing{w: w, ids: map[string]bool{}, until: time.Now().Add(w.patience)}
	if stays {
		found.leaves = w.leaves
	}
	for _, id := range w.ids {
		found.ids[id] = true
	}
	return found
}

// One was given to a consumer.
func (m *missing) found(value []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.ids, string(value))
	m.begun = true
}

// Whether a consumer is to poll once more.
func (m *missing) goesOn() (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.ids) > 0 && time.Now().After(m.until) {
		return false, gaveUpError{fmt.Sprintf("%d records were not delivered", len(m.ids))}
	}
	return !m.ended && (len(m.ids) > 0 || time.Now().Before(m.leaves)), nil
}

func (m *missing) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
}

func (m *missing) hasBegun() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.begun
}

// Has two members read, named so: the second joins once the first was given a record.
func (m *missing) byTwo(read func(name string) error) error {
	second := make(chan error, 1)
	go func() {
		for on, _ := m.goesOn(); on && !m.hasBegun(); on, _ = m.goesOn() {
			time.Sleep(50 * time.Millisecond)
		}
		err := read("reader-2")
		if err != nil {
			m.end()
		}
		second <- err
	}()
	err := read("reader-1")
	m.end()
	select {
	case other := <-second:
		if err == nil {
			err = other
		}
	case <-time.After(m.w.patience):
	}
	return err
}
