// Workloads of franz-go that read.
package main

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Partitions that it chose itself.
func readPartitions(w *work) error {
	r := w.reader("reader", event{})
	places := map[int32]kgo.Offset{}
	for partition := range int32(w.partitions) {
		places[partition] = kgo.NewOffset().AtStart()
		r.assigned(w.topic, partition)
	}
	client, err := w.client(kgo.ClientID(r.name), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{w.topic: places}))
	if err != nil {
		return err
	}
	defer client.Close()
	missing := w.missing(false)
	for {
		if on, err := missing.goesOn(); !on {
			return err
		}
		r.poll(client, missing.found)
	}
}

func readInGroup(w *work) error {
	return w.member("reader", kgo.RangeBalancer(), w.missing(true))
}

func readByTwo(w *work) error {
	missing := w.missing(true)
	return missing.byTwo(func(name string) error { return w.member(name, kgo.CooperativeStickyBalancer(), missing) })
}

func (w *work) member(name string, balancer kgo.GroupBalancer, missing *missing) error {
	r := w.reader(name, event{"group": w.group})
	client, err := w.client(r.joining(kgo.Balancers(balancer))...)
	if err != nil {
		return err
	}
	defer client.Close()
	for {
		if on, err := missing.goesOn(); !on {
			return err
		}
		records := r.poll(client, missing.found)
		if len(records) == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), w.patience)
		err := client.CommitRecords(ctx, records...)
		cancel()
		if err != nil {
			continue // it was not committed: it may come again
		}
		w.committedAll(records)
	}
}

// Options of a member of the work's group.
func (r *reader) joining(own ...kgo.Opt) []kgo.Opt {
	return append([]kgo.Opt{
		kgo.ClientID(r.name),
		kgo.ConsumerGroup(r.w.group),
		kgo.ConsumeTopics(r.w.topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, got map[string][]int32) {
			for topic, partitions := range got {
				for _, partition := range partitions {
					r.assigned(topic, partition)
				}
			}
		}),
	}, own...)
}

// What polls: a client, or a session of transactions.
type poller interface {
	PollRecords(context.Context, int) kgo.Fetches
}

func (r *reader) poll(from poller, found func([]byte)) []*kgo.Record {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	records := from.PollRecords(ctx, atOnce).Records()
	for _, one := range records {
		r.consumed(one.Topic, one.Partition, one.Offset, one.Value)
		found(one.Value)
	}
	return records
}

// The offsets behind these are.
func (w *work) committedAll(records []*kgo.Record) {
	ends := map[int32]int64{}
	for _, one := range records {
		ends[one.Partition] = one.Offset + 1
	}
	for partition, offset := range ends {
		w.committed(w.topic, partition, offset)
	}
}
