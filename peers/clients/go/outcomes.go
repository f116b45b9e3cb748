// The outcomes of records that a producer sent.
package main

import (
	"sync"
	"time"
)

// How a producer ends its last round.
type ending string

const (
	flushing ending = "flush" // hand over all records, then flush: each has its outcome then
	closing  ending = "close" // hand over all records, then close the producer
)

// Outcomes of a round's records. All are reported; the first of each record counts.
type outcomes struct {
	w        *work
	mu       sync.Mutex
	waiting  map[string]bool // ids of records without an outcome
	failure  error           // the first one
	complete chan struct{}   // closed when each record has an outcome
}

func (w *work) outcomes(round sends) *outcomes {
	o := &outcomes{w: w, waiting: map[string]bool{}, complete: make(chan struct{})}
	for _, records := range round {
		for _, record := range records {
			o.waiting[record.ID] = true
		}
	}
	if len(o.waiting) == 0 {
		close(o.complete)
	}
	return o
}

func (o *outcomes) acknowledged(record planned, partition int32, offset int64) {
	o.w.acknowledged(record, partition, offset)
	o.add(record, nil)
}

func (o *outcomes) failed(record planned, err error) {
	o.w.failed(record, err)
	o.add(record, err)
}

func (o *outcomes) add(record planned, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.waiting[record.ID] {
		return
	}
	delete(o.waiting, record.ID)
	if o.failure == nil {
		o.failure = err
	}
	if len(o.waiting) == 0 {
		close(o.complete)
	}
}

// Return the first error until now, without waiting.
func (o *outcomes) firstError() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failure
}

// Wait until each record has an outcome, and return the first error.
func (o *outcomes) wait() error {
	select {
	case <-o.complete:
		return o.firstError()
	case <-time.After(o.w.patience):
		return gaveUpError{"records are neither acknowledged nor failed"}
	}
}
