// The records that a producer is to send, as experiments/clients/draws.py plans them.
package main

import (
	"bytes"
	"time"
)

// Settings of a producer by Kafka's names, which apply if the library has them.
type producerSettings struct {
	Compression string `json:"compression.type"`
	MaxInFlight int    `json:"max.in.flight.requests.per.connection"`
	LingerMS    *int   `json:"linger.ms"`
	BatchSize   int    `json:"batch.size"`
}

func (s producerSettings) linger(otherwise time.Duration) time.Duration {
	if s.LingerMS == nil {
		return otherwise
	}
	return time.Duration(*s.LingerMS) * time.Millisecond
}

const separator = "|" // the end of a record's id in its value; padding follows

// Lists of records, each handed to the client at once.
type sends [][]planned

func (s sends) count() int {
	count := 0
	for _, records := range s {
		count += len(records)
	}
	return count
}

// A record to send. ID: its value up to the padding, or its key if it has no value. Producer: within whose records order is promised;
// empty if there is only one.
type planned struct {
	ID, Topic string
	Producer  string `json:"-"`
	Key       *string
	Partition *int32 // nil: the library chooses
	Size      *int   // bytes of the value; nil: it is the id
	Null      bool   // whether it has no value
	Headers   [][2]string
	Timestamp *int64 // ms
}

func (p planned) key() []byte {
	if p.Key == nil {
		return nil
	}
	return []byte(*p.Key)
}

func (p planned) value() []byte {
	switch {
	case p.Null:
		return nil
	case p.Size == nil:
		return []byte(p.ID)
	case *p.Size == 0:
		return []byte{}
	}
	return append([]byte(p.ID+separator), bytes.Repeat([]byte("x"), *p.Size-len(p.ID)-1)...)
}

// The zero time: the library sets it.
func (p planned) time() time.Time {
	if p.Timestamp == nil {
		return time.Time{}
	}
	return time.UnixMilli(*p.Timestamp)
}

// Return a copy of a received record. producer: of several that copy to that topic.
func copyOf(original record, topic, producer string) planned {
	return planned{ID: original.id, Topic: topic, Producer: producer, Key: &original.id}
}
