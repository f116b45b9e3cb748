// Workloads of kafka-go that read.
package main

import (
	"context"
	"time"

	kafka "github.com/segmentio/kafka-go"
)

func (w *work) dialed(own kafka.ReaderConfig) *kafka.Reader {
	own.Brokers, own.Topic, own.MaxWait = w.bootstrap, w.topic, 100*time.Millisecond
	own.Dialer = &kafka.Dialer{ClientID: "reader", Timeout: 10 * time.Second}
	return kafka.NewReader(own)
}

// Partitions that it chose itself, with a reader for each, as its documents have it.
func readPartitions(w *work) error {
	r, missing := w.reader("reader", event{}), w.missing(false)
	ended := make(chan error, w.partitions)
	for partition := range w.partitions {
		go func() {
			from := w.dialed(kafka.ReaderConfig{Partition: partition})
			defer func() { _ = from.Close() }()
			r.assigned(w.topic, int32(partition))
			ended <- r.fetch(from, missing, func(kafka.Message) {})
		}()
	}
	var failed error
	for range w.partitions {
		if err := <-ended; err != nil && failed == nil {
			failed = err
			missing.end()
		}
	}
	return failed
}

func readInGroup(w *work) error {
	r := w.reader("reader", event{"group": w.group}) // it does not say which partitions it gets
	from := w.dialed(kafka.ReaderConfig{GroupID: w.group, StartOffset: kafka.FirstOffset})
	defer func() { _ = from.Close() }()
	return r.fetch(from, w.missing(true), func(one kafka.Message) {
		if one.Offset%atOnce != 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), w.patience)
		defer cancel()
		if from.CommitMessages(ctx, one) == nil {
			w.committed(one.Topic, int32(one.Partition), one.Offset+1)
		}
	})
}

// Reads until nothing is missing; does that with each.
func (r *reader) fetch(from *kafka.Reader, missing *missing, do func(kafka.Message)) error {
	for {
		if on, err := missing.goesOn(); !on {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		one, err := from.FetchMessage(ctx)
		cancel()
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err != nil {
			continue
		}
		r.consumed(one.Topic, int32(one.Partition), one.Offset, one.Value)
		missing.found(one.Value)
		do(one)
	}
}
