// Workloads of kafka-go that read.
package main

import (
	"cmp"
	"context"
	"time"

	kafka "github.com/segmentio/kafka-go"
)

const (
	firstWait = 200 * time.Millisecond // for the first message of a poll
	nextWait  = 10 * time.Millisecond  // for each of the others
	maxBytes  = 1_000_000              // kafka-go's default
)

func (w *work) opened(clientID string, c kafka.ReaderConfig) *kafka.Reader {
	c.Brokers = w.bootstrap
	c.Dialer = &kafka.Dialer{ClientID: clientID, Timeout: 10 * time.Second}
	return kafka.NewReader(c)
}

// Read all partitions without a group, with a reader for each, as in kafka-go's documentation.
func readPartitions(w *work) error {
	r, pending := w.reader("reader", event{}), w.pendingRecords(false)
	ended, count := make(chan error), 0
	for _, topic := range w.topics {
		for partition := range w.partitions {
			count++
			go func() {
				from := w.opened(r.name, kafka.ReaderConfig{Topic: topic, Partition: partition})
				defer func() { _ = from.Close() }()
				r.assigned(topic, int32(partition))
				ended <- r.pollAll(pending, func() ([]record, error) { return poll(from, firstWait) }, pending.received)
			}()
		}
	}
	var failure error
	for range count {
		if err := <-ended; err != nil && failure == nil {
			failure = err
			pending.end()
		}
	}
	return failure
}

// Return the next message, if it is available in time.
func poll(from *kafka.Reader, wait time.Duration) ([]record, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	m, err := from.FetchMessage(ctx)
	switch {
	case err == nil:
		return []record{{topic: m.Topic, partition: int32(m.Partition), offset: m.Offset, id: recordID(m.Key, m.Value)}}, nil
	case ctx.Err() != nil:
		return nil, nil
	}
	return nil, err
}

func readInGroup(w *work) error { return w.readInGroup(w.join) }

func (w *work) join(m member, r *reader) (groupConsumer, error) {
	s := m.Settings
	if m.Pattern+s.Protocol+s.Assignor+s.InstanceID+s.Rack != "" {
		return nil, notOfferedError{}
	}
	c := kafka.ReaderConfig{GroupID: w.group, GroupTopics: w.topics, StartOffset: kafka.FirstOffset, MinBytes: s.FetchMinBytes,
		MaxBytes: s.MaxPartitionBytes}
	if c.MinBytes > 0 { // kafka-go panics if it is more than the maximum, which has to be given
		c.MaxBytes = cmp.Or(c.MaxBytes, maxBytes)
		c.MinBytes = min(c.MinBytes, c.MaxBytes)
	}
	if s.SessionTimeoutMS > 0 {
		c.SessionTimeout, c.HeartbeatInterval = s.sessionTimeout()
	}
	if s.FetchMaxWaitMS != nil {
		c.MaxWait = max(milliseconds(*s.FetchMaxWaitMS), time.Millisecond)
	}
	return &groupReader{reader: r, from: w.opened(m.Name, c), most: s.maxPoll()}, nil
}

// A member of a group. kafka-go does not report which partitions it gets, but counts rebalances.
type groupReader struct {
	*reader
	from *kafka.Reader
	most int
	next []record // the first one after a rebalance
}

// Return the messages that are available, up to a rebalance.
func (g *groupReader) poll() ([]record, error) {
	records := g.next
	if g.next = nil; len(records) > 0 {
		g.reassigned()
	}
	for wait := firstWait; len(records) < g.most; wait = nextWait {
		received, err := poll(g.from, wait)
		if err != nil || len(received) == 0 {
			return records, err
		}
		switch rebalanced := g.from.Stats().Rebalances > 0; {
		case rebalanced && len(records) > 0:
			g.next = received
			return records, nil
		case rebalanced:
			g.reassigned()
		}
		records = append(records, received...)
	}
	return records, nil
}

// Report all partitions: the member may have each of them, from the committed offset on.
func (g *groupReader) reassigned() {
	for _, topic := range g.w.topics {
		for partition := range int32(g.w.partitions) {
			g.assigned(topic, partition)
		}
	}
}

func (g *groupReader) commit(last []record) bool {
	ctx, cancel := context.WithTimeout(context.Background(), g.w.patience)
	defer cancel()
	messages := []kafka.Message{}
	for _, l := range last {
		messages = append(messages, kafka.Message{Topic: l.topic, Partition: int(l.partition), Offset: l.offset})
	}
	return g.from.CommitMessages(ctx, messages...) == nil
}

func (g *groupReader) close() { _ = g.from.Close() }
