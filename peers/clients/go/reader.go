// Reports of a consumer in Go, as in programs/work.py, and the records that are still to be read.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// A record that a consumer received. epoch: its leader's, if the library has it.
type record struct {
	topic            string
	partition, epoch int32
	offset           int64
	id               string
}

// Return a record's id: its value up to the padding, or its key if the value is empty.
func recordID(key, value []byte) string {
	if len(value) == 0 {
		return string(key)
	}
	id, _, _ := bytes.Cut(value, []byte(separator))
	return string(id)
}

type topicPartition struct {
	topic     string
	partition int32
}

// Return the last record of each partition, ordered by topic and partition.
func lastRecords(records []record) []record {
	last := map[topicPartition]record{}
	for _, r := range records {
		last[topicPartition{r.topic, r.partition}] = r
	}
	sorted := []record{}
	for _, r := range last {
		sorted = append(sorted, r)
	}
	slices.SortFunc(sorted, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
	})
	return sorted
}

// A consumer's reports, its partitions, and the records whose offsets it has to commit.
type reader struct {
	w           *work
	name        string // also its client id
	mu          sync.Mutex
	partitions  map[topicPartition]bool // that are assigned
	uncommitted []record                // in the order in which they were received
}

// Declare a consumer. facts: group, isolation and share, unless they are none, read_uncommitted and false.
func (w *work) reader(name string, facts event) *reader {
	declared := event{"consumer": name, "isolation": "read_uncommitted", "reset": "earliest"}
	maps.Copy(declared, facts)
	w.report("consumer", declared)
	return &reader{w: w, name: name, partitions: map[topicPartition]bool{}}
}

func (r *reader) report(name, topic string, partition int32, facts event) {
	facts["consumer"], facts["topic"], facts["partition"] = r.name, topic, partition
	r.w.report(name, facts)
}

// Report a partition that was assigned, or in which the consumer has sought.
func (r *reader) assigned(topic string, partition int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.partitions[topicPartition{topic, partition}] = true
	r.forget(topic, partition)
	r.report("assigned", topic, partition, event{})
}

// Forget a partition that was revoked. It waits for a commit that runs.
func (r *reader) revoked(topic string, partition int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.partitions, topicPartition{topic, partition})
	r.forget(topic, partition)
}

func (r *reader) forget(topic string, partition int32) {
	r.uncommitted = slices.DeleteFunc(r.uncommitted, func(u record) bool { return u.topic == topic && u.partition == partition })
}

func (r *reader) assignment() []topicPartition {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.assignmentLocked()
}

func (r *reader) assignmentLocked() []topicPartition {
	partitions := []topicPartition{}
	for p := range r.partitions {
		partitions = append(partitions, p)
	}
	return partitions
}

// Remember records to commit, unless their partition was revoked meanwhile.
func (r *reader) remember(records []record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, received := range records {
		if r.partitions[topicPartition{received.topic, received.partition}] {
			r.uncommitted = append(r.uncommitted, received)
		}
	}
}

// Commit the offsets after the remembered records, of all partitions or of the first one only, and forget these records.
func (r *reader) commit(firstOnly bool, commit func(last []record) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := lastRecords(r.uncommitted)
	if firstOnly && len(last) > 1 {
		last = last[:1]
	}
	for _, l := range last {
		r.forget(l.topic, l.partition)
	}
	if len(last) > 0 && commit(last) {
		r.w.committedAfter(last)
	}
}

// Seek in all partitions to the committed offsets. A revocation waits meanwhile.
func (r *reader) rewind(consumer rewinder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	partitions := r.assignmentLocked()
	consumer.rewind(partitions)
	r.uncommitted = nil
	for _, p := range partitions {
		r.report("assigned", p.topic, p.partition, event{})
	}
}

// Report received records.
func (r *reader) consumed(records []record) {
	for _, c := range records {
		r.report("consumed", c.topic, c.partition, event{"id": c.id, "offset": c.offset})
	}
}

// Report a record of a share group whose acknowledgement the broker confirmed.
func (r *reader) accepted(accepted record) {
	r.report("accepted", accepted.topic, accepted.partition, event{"offset": accepted.offset})
}

// Report the committed offsets after these records.
func (w *work) committedAfter(records []record) {
	for _, last := range lastRecords(records) {
		w.committed(last.topic, last.partition, last.offset+1)
	}
}

// Poll until the workload is over, report the records and handle them.
func (r *reader) pollAll(pending *pendingRecords, poll func() ([]record, error), handle func([]record) error) error {
	for {
		if on, err := pending.unfinished(); !on {
			return err
		}
		records, err := poll()
		if err != nil {
			return err
		}
		r.consumed(records)
		if err := handle(records); err != nil {
			return err
		}
	}
}

// The records that no consumer has received yet, or that are not copied yet.
type pendingRecords struct {
	w      *work
	leaves time.Time // until then consumers stay after the last record
	until  time.Time
	mu     sync.Mutex
	ids    map[string]bool
	ended  bool
}

// stays: whether consumers stay for a while after the last record, as members of groups do, so that faults meet their heartbeats.
func (w *work) pendingRecords(stays bool) *pendingRecords {
	p := &pendingRecords{w: w, ids: map[string]bool{}, until: time.Now().Add(w.patience)}
	if stays {
		p.leaves = w.leaves
	}
	for _, id := range w.ids {
		p.ids[id] = true
	}
	return p
}

// Remove received records.
func (p *pendingRecords) received(records []record) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range records {
		delete(p.ids, r.id)
		p.w.pollError.Store(nil)
	}
	return nil
}

// Return whether a consumer is to poll once more.
func (p *pendingRecords) unfinished() (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ids) > 0 && time.Now().After(p.until) {
		return false, p.undelivered()
	}
	return !p.ended && (len(p.ids) > 0 || time.Now().Before(p.leaves)), nil
}

// Wait until so many records were received and a member has left; return false if the workload is over before. departed: closed when the
// member has left; nil: there is none to wait for.
func (p *pendingRecords) await(count int, departed <-chan struct{}) (bool, error) {
	for ; ; time.Sleep(checkInterval) {
		on, err := p.unfinished()
		if !on || (len(p.w.ids)-p.count() >= count && isClosed(departed)) {
			return on, err
		}
	}
}

func isClosed(departed <-chan struct{}) bool {
	select {
	case <-departed:
		return true
	default:
		return departed == nil
	}
}

func (p *pendingRecords) undelivered() error {
	if reported := p.w.pollError.Load(); reported != nil {
		return *reported
	}
	return gaveUpError{fmt.Sprintf("%d records were not delivered", len(p.ids))}
}

func (p *pendingRecords) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ids)
}

func (p *pendingRecords) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}
