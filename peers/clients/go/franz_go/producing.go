// Workloads of franz-go that write.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// What sends: a client, or a session of transactions.
type producer interface {
	Produce(context.Context, *kgo.Record, func(*kgo.Record, error))
}

func (w *work) send(to producer, topic string, ids []string, transaction string, done chan<- error) {
	for _, id := range ids {
		w.sent(topic, id, transaction)
		to.Produce(context.Background(), &kgo.Record{Topic: topic, Key: []byte(id), Value: []byte(id)}, func(record *kgo.Record, err error) {
			if err == nil {
				w.acknowledged(topic, string(record.Value), record.Partition, record.Offset)
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
func sendAll(w *work) error { return w.sendWith(w.ids) }

func (w *work) sendWith(ids []string, own ...kgo.Opt) error {
	client, err := w.client(append(own, kgo.ClientID("producer"))...)
	if err != nil {
		return err
	}
	defer client.Close()
	done := make(chan error, len(ids))
	w.send(client, w.topic, ids, "", done)
	return w.all(len(ids), done)
}

func sendCompressed(w *work) error {
	codecs := map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	return w.coded(func(codec string, ids []string) error {
		return w.sendWith(ids, kgo.ProducerBatchCompression(codecs[codec]))
	})
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
			w.send(client, w.topic, ids, name, done)
			failed := w.all(len(ids), done)
			committed, err := w.end(client, failed == nil && !aborts)
			if err != nil {
				return err
			}
			if committed {
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

// Whether the transaction is committed; where it can't be, it is aborted, as EndTransaction's documents say.
func (w *work) end(client *kgo.Client, commits bool) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), w.patience)
	defer cancel()
	err := client.EndTransaction(ctx, kgo.TransactionEndTry(commits))
	var told *kerr.Error
	if commits && errors.As(err, &told) && (told == kerr.OperationNotAttempted || told.Code == abortable) {
		return false, client.EndTransaction(ctx, kgo.TryAbort)
	}
	return commits, err
}

const abortable = 120 // TRANSACTION_ABORTABLE, for which older releases have no name
