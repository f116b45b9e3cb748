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

// A client, or a session of transactions.
type producer interface {
	Produce(context.Context, *kgo.Record, func(*kgo.Record, error))
}

// Send the records of a round and await them.
func (w *work) send(to producer, round sends, transaction string) error {
	return w.handOver(to, round, transaction).wait()
}

func (w *work) handOver(to producer, round sends, transaction string) *outcomes {
	o := w.outcomes(round)
	for _, records := range round {
		for _, plan := range records {
			w.sent(plan, transaction)
			to.Produce(context.Background(), recordOf(plan), func(written *kgo.Record, err error) {
				if err == nil {
					o.acknowledged(plan, written.Partition, written.Offset)
				} else {
					o.failed(plan, err)
				}
			})
		}
		time.Sleep(w.pause)
	}
	return o
}

func recordOf(plan planned) *kgo.Record {
	r := &kgo.Record{Topic: plan.Topic, Key: plan.key(), Value: plan.value(), Timestamp: plan.time(), Partition: -1}
	for _, header := range plan.Headers {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: header[0], Value: []byte(header[1])})
	}
	if plan.Partition != nil {
		r.Partition = *plan.Partition
	}
	return r
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

// Return the options of a producer. franz-go's batch size is a limit for records, and an idempotent producer has one request in flight.
func (w *work) producing() []kgo.Opt {
	options := []kgo.Opt{kgo.ClientID("producer")}
	if w.settings.LingerMS != nil {
		options = append(options, kgo.ProducerLinger(w.settings.linger(0)))
	}
	if codec, has := codecs[w.settings.Compression]; has {
		options = append(options, kgo.ProducerBatchCompression(codec))
	}
	for _, round := range w.rounds {
		for _, records := range round {
			for _, plan := range records {
				if plan.Partition != nil {
					return append(options, kgo.RecordPartitioner(choosing{kgo.StickyKeyPartitioner(nil)}))
				}
			}
		}
	}
	return options
}

func sendAll(w *work) error { return w.sendWith(w.rounds) }

func (w *work) sendWith(rounds []sends, more ...kgo.Opt) error {
	client, err := w.client(append(w.producing(), more...)...)
	if err != nil {
		return err
	}
	defer client.Close()
	for number, round := range rounds {
		o := w.handOver(client, round, "")
		if number == len(rounds)-1 && (w.ending == flushing || w.ending == closing) { // to close drops records that are not flushed
			return w.flush(client, o)
		}
		if err := o.wait(); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) flush(client *kgo.Client, o *outcomes) error {
	ctx, cancel := context.WithTimeout(context.Background(), w.patience)
	defer cancel()
	if err := client.Flush(ctx); err != nil {
		return gaveUpError{"records are not flushed"}
	}
	return o.firstError()
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

// End the transaction and return whether it is committed. If that is impossible, abort it, as EndTransaction's documentation says.
func (w *work) end(client *kgo.Client, commits bool) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), w.patience)
	defer cancel()
	err := client.EndTransaction(ctx, kgo.TransactionEndTry(commits))
	var refusal *kerr.Error
	if commits && errors.As(err, &refusal) && (refusal == kerr.OperationNotAttempted || refusal.Code == abortable) {
		return false, client.EndTransaction(ctx, kgo.TryAbort)
	}
	return commits, err
}

const abortable = 120 // TRANSACTION_ABORTABLE: older releases have no name for it
