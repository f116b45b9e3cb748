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

// Send the records of a round and await them.
func (w *work) send(to producer, round sends, transaction string) error {
	done := make(chan error, round.count())
	for _, records := range round {
		for _, one := range records {
			w.sent(one.Topic, one.ID, transaction)
			to.Produce(context.Background(), recordOf(one), func(record *kgo.Record, err error) {
				if err == nil {
					w.acknowledged(one.Topic, one.ID, record.Partition, record.Offset)
				}
				done <- err
			})
		}
		time.Sleep(w.pause)
	}
	return w.all(round.count(), done)
}

func recordOf(one planned) *kgo.Record {
	record := &kgo.Record{Topic: one.Topic, Key: one.key(), Value: one.value(), Timestamp: one.time(), Partition: -1}
	for _, header := range one.Headers {
		record.Headers = append(record.Headers, kgo.RecordHeader{Key: header[0], Value: []byte(header[1])})
	}
	if one.Partition != nil {
		record.Partition = *one.Partition
	}
	return record
}

// A partitioner that takes a record's partition if it has one.
type choosing struct{ kgo.Partitioner }

func (c choosing) ForTopic(topic string) kgo.TopicPartitioner {
	return choosingTopic{c.Partitioner.ForTopic(topic)}
}

type choosingTopic struct{ kgo.TopicPartitioner }

func (c choosingTopic) RequiresConsistency(record *kgo.Record) bool {
	return record.Partition >= 0 || c.TopicPartitioner.RequiresConsistency(record)
}

func (c choosingTopic) Partition(record *kgo.Record, count int) int {
	if record.Partition >= 0 {
		return int(record.Partition)
	}
	return c.TopicPartitioner.Partition(record, count)
}

func (c choosingTopic) OnNewBatch() {
	if inner, ok := c.TopicPartitioner.(kgo.TopicPartitionerOnNewBatch); ok {
		inner.OnNewBatch()
	}
}

// The settings of the work that it has: its batch size is a limit for records, and an idempotent producer has one request in flight.
func (w *work) producing() []kgo.Opt {
	found := []kgo.Opt{kgo.ClientID("producer")}
	if w.settings.LingerMS != nil {
		found = append(found, kgo.ProducerLinger(w.settings.linger(0)))
	}
	if codec, has := codecs[w.settings.Compression]; has {
		found = append(found, kgo.ProducerBatchCompression(codec))
	}
	for _, round := range w.rounds {
		for _, records := range round {
			for _, one := range records {
				if one.Partition != nil {
					return append(found, kgo.RecordPartitioner(choosing{kgo.StickyKeyPartitioner(nil)}))
				}
			}
		}
	}
	return found
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
func sendAll(w *work) error { return w.sendWith(w.rounds) }

func (w *work) sendWith(rounds []sends, own ...kgo.Opt) error {
	client, err := w.client(append(w.producing(), own...)...)
	if err != nil {
		return err
	}
	defer client.Close()
	for _, round := range rounds {
		if err := w.send(client, round, ""); err != nil {
			return err
		}
	}
	return nil
}

var codecs = map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}

func sendCompressed(w *work) error {
	return w.coded(func(codec string, rounds []sends) error {
		return w.sendWith(rounds, kgo.ProducerBatchCompression(codecs[codec]))
	})
}

func transactAll(w *work) error {
	client, err := w.client(append(w.producing(), kgo.TransactionalID(w.group))...)
	if err != nil {
		return err
	}
	defer client.Close()
	return w.transactions(func(number int, round sends, aborts bool) error {
		for attempt := range attempts {
			name := fmt.Sprintf("%d.%d", number, attempt)
			if err := client.BeginTransaction(); err != nil {
				return err
			}
			failed := w.send(client, round, name)
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
