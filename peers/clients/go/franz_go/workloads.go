// Workloads of franz-go.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

var workloads = map[string]workload{"produce": sendAll, "idempotent": sendAll, "transact": transactAll, "group": readAll}

func (w *work) client(own ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(w.bootstrap), kgo.DefaultProduceTopic(w.topic)}, own...)...)
}

func (w *work) send(client *kgo.Client, ids []string, transaction string, done chan<- error) {
	for _, id := range ids {
		w.sent(id, transaction)
		client.Produce(context.Background(), &kgo.Record{Key: []byte(id), Value: []byte(id)}, func(record *kgo.Record, err error) {
			if err == nil {
				w.acknowledged(string(record.Value), record.Partition, record.Offset)
			}
			done <- err
		})
		if transaction == "" {
			time.Sleep(w.pause)
		}
	}
}

func (w *work) all(count int, done <-chan error) error {
	late := time.After(w.patience)
	var failed error
	for range count {
		select {
		case err := <-done:
			if failed == nil {
				failed = err
			}
		case <-late:
			return gaveUpError{"records are neither acknowledged nor failed"}
		}
	}
	return failed
}

// It is idempotent unless it is told otherwise.
func sendAll(w *work) error {
	client, err := w.client(kgo.ClientID("producer"))
	if err != nil {
		return err
	}
	defer client.Close()
	done := make(chan error, len(w.ids))
	w.send(client, w.ids, "", done)
	return w.all(len(w.ids), done)
}

func transactAll(w *work) error {
	client, err := w.client(kgo.ClientID("producer"), kgo.TransactionalID(w.group))
	if err != nil {
		return err
	}
	defer client.Close()
	return w.batches(func(number int, ids []string, aborts bool) error {
		for attempt := range attempts {
			name := fmt.Sprintf("%d.%d", number, attempt)
			if err := client.BeginTransaction(); err != nil {
				return err
			}
			done := make(chan error, len(ids))
			w.send(client, ids, name, done)
			failed := w.all(len(ids), done)
			ctx, cancel := context.WithTimeout(context.Background(), w.patience)
			commits := failed == nil && !aborts
			err := client.EndTransaction(ctx, kgo.TransactionEndTry(commits))
			cancel()
			if err != nil {
				return err
			}
			if commits {
				w.ended(name, "committed")
				return nil
			}
			w.ended(name, "aborted")
			if aborts && failed == nil {
				return nil
			}
		}
		return gaveUpError{fmt.Sprintf("transaction %d was aborted %d times", number, attempts)}
	})
}

func readAll(w *work) error {
	client, err := w.client(
		kgo.ClientID("reader"),
		kgo.ConsumerGroup(w.group),
		kgo.Balancers(kgo.RangeBalancer()),
		kgo.ConsumeTopics(w.topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, got map[string][]int32) {
			for topic, partitions := range got {
				for _, partition := range partitions {
					w.assigned(topic, partition)
				}
			}
		}),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	w.consumer()
	missing := w.missing()
	for {
		if on, err := missing.goesOn(); !on {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		records := client.PollRecords(ctx, atOnce).Records()
		cancel()
		ends := map[int32]int64{}
		for _, one := range records {
			w.consumed(one.Topic, one.Partition, one.Offset, one.Value)
			delete(missing.ids, string(one.Value))
			ends[one.Partition] = one.Offset + 1
		}
		if len(ends) == 0 {
			continue
		}
		ctx, cancel = context.WithTimeout(context.Background(), w.patience)
		err := client.CommitRecords(ctx, records...)
		cancel()
		if err != nil {
			continue // it was not committed: it may come again
		}
		for partition, offset := range ends {
			w.committed(w.topic, partition, offset)
		}
	}
}
