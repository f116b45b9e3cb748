//go:build v1.21

// The workload of franz-go that reads in a share group, since 1.21.
package main

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

func readShared(w *work) error {
	r := w.reader("reader", event{"group": w.group, "share": true})
	var mu sync.Mutex
	refused := map[topicPartition]bool{} // partitions with a failed acknowledgement
	client, err := w.client(
		kgo.ClientID(r.name),
		kgo.ShareGroup(w.group),
		kgo.ConsumeTopics(w.topics...),
		kgo.ShareAckCallback(func(_ *kgo.Client, results kgo.ShareAckResults) {
			mu.Lock()
			defer mu.Unlock()
			for _, result := range results {
				if result.Err != nil {
					refused[topicPartition{result.Topic, result.Partition}] = true
				}
			}
		}),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	pending, received := w.pendingRecords(true), []*kgo.Record{}
	return r.pollAll(pending, func() ([]record, error) {
		received = w.poll(client, atOnce)
		return polled(received), nil
	}, func(records []record) error {
		if len(records) == 0 {
			return nil
		}
		_ = pending.received(records)
		client.MarkAcks(kgo.AckAccept, received...)
		ctx, cancel := context.WithTimeout(context.Background(), w.patience)
		defer cancel()
		if client.FlushAcks(ctx) != nil {
			return nil // unknown outcome: the records may be delivered again
		}
		mu.Lock()
		defer mu.Unlock()
		for _, accepted := range records {
			if !refused[topicPartition{accepted.topic, accepted.partition}] {
				r.accepted(accepted)
			}
		}
		clear(refused)
		return nil
	})
}
