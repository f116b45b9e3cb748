//go:build v1.21

// The workload of franz-go that reads in a share group, which it has since 1.21.
package main

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

func readShared(w *work) error {
	r := w.reader("reader", event{"group": w.group, "share": true})
	var mu sync.Mutex
	refused := map[int32]bool{} // partitions of which an acknowledgement failed
	client, err := w.client(
		kgo.ClientID(r.name),
		kgo.ShareGroup(w.group),
		kgo.ConsumeTopics(w.topic),
		kgo.ShareAckCallback(func(_ *kgo.Client, told kgo.ShareAckResults) {
			mu.Lock()
			defer mu.Unlock()
			for _, one := range told {
				if one.Err != nil {
					refused[one.Partition] = true
				}
			}
		}),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	missing := w.missing(true)
	for {
		if on, err := missing.goesOn(); !on {
			return err
		}
		records := r.poll(client, missing.found)
		if len(records) == 0 {
			continue
		}
		client.MarkAcks(kgo.AckAccept, records...)
		ctx, cancel := context.WithTimeout(context.Background(), w.patience)
		err := client.FlushAcks(ctx)
		cancel()
		if err != nil {
			continue // it is not known to be taken: it may come again
		}
		mu.Lock()
		for _, one := range records {
			if !refused[one.Partition] {
				r.accepted(one.Topic, one.Partition, one.Offset)
			}
		}
		clear(refused)
		mu.Unlock()
	}
}
