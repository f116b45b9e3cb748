// Workloads of franz-go that read.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Read all partitions without a group.
func readPartitions(w *work) error {
	r := w.reader("reader", event{})
	offsets := map[string]map[int32]kgo.Offset{}
	for _, topic := range w.topics {
		offsets[topic] = map[int32]kgo.Offset{}
		for partition := range int32(w.partitions) {
			offsets[topic][partition] = kgo.NewOffset().AtStart()
			r.assigned(topic, partition)
		}
	}
	client, err := w.client(kgo.ClientID(r.name), kgo.ConsumePartitions(offsets))
	if err != nil {
		return err
	}
	defer client.Close()
	pending := w.pendingRecords(false)
	return r.pollAll(pending, func() ([]record, error) { return polled(w.poll(client, atOnce)), nil }, pending.received)
}

// Return the options of a member of the work's group.
func (r *reader) joining(more ...kgo.Opt) []kgo.Opt {
	forget := func(_ context.Context, _ *kgo.Client, revoked map[string][]int32) { each(revoked, r.revoked) }
	return append([]kgo.Opt{
		kgo.ClientID(r.name),
		kgo.ConsumerGroup(r.w.group),
		kgo.ConsumeTopics(r.w.topics...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, assigned map[string][]int32) { each(assigned, r.assigned) }),
		kgo.OnPartitionsRevoked(forget),
		kgo.OnPartitionsLost(forget),
	}, more...)
}

func each(partitions map[string][]int32, do func(topic string, partition int32)) {
	for topic, numbers := range partitions {
		for _, partition := range numbers {
			do(topic, partition)
		}
	}
}

// A client, or a session of transactions.
type poller interface {
	PollRecords(context.Context, int) kgo.Fetches
}

// Poll once. The last error counts only if records remain undelivered, because the client continues after errors.
func (w *work) poll(from poller, most int) []*kgo.Record {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	fetches := from.PollRecords(ctx, most)
	for _, e := range fetches.Errors() {
		if !errors.Is(e.Err, ctx.Err()) {
			w.pollError.Store(&e.Err)
		}
	}
	return fetches.Records()
}

func polled(from []*kgo.Record) []record {
	records := []record{}
	for _, r := range from {
		records = append(records, record{r.Topic, r.Partition, r.LeaderEpoch, r.Offset, recordID(r.Key, r.Value)})
	}
	return records
}
