// The workload of kafka-go that writes.
package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	kafka "github.com/segmentio/kafka-go"
)

func sendAll(w *work) error {
	var codec kafka.Compression
	_ = codec.UnmarshalText([]byte(w.settings.Compression))
	return w.sendWith(codec, w.rounds)
}

func sendCompressed(w *work) error {
	return w.coded(func(codec string, rounds []sends) error {
		var c kafka.Compression
		if err := c.UnmarshalText([]byte(codec)); err != nil {
			return err
		}
		return w.sendWith(c, rounds)
	})
}

// A balancer that takes a record's partition if it has one.
type choosing struct{ kafka.Balancer }

func (c choosing) Balance(m kafka.Message, partitions ...int) int {
	if chosen := m.WriterData.(planned).Partition; chosen != nil {
		return int(*chosen)
	}
	return c.Balancer.Balance(m, partitions...)
}

// kafka-go's batch size is a limit for records, and its number of requests in flight is fixed. Each call of WriteMessages blocks, so
// that all endings are the same.
func (w *work) sendWith(codec kafka.Compression, rounds []sends) error {
	writer := &kafka.Writer{Addr: kafka.TCP(w.bootstrap...), Balancer: choosing{&kafka.Hash{}}, RequiredAcks: kafka.RequireAll,
		BatchTimeout: max(w.settings.linger(0), time.Millisecond), Compression: codec, Transport: &kafka.Transport{ClientID: "producer"}}
	defer func() { _ = writer.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), w.patience)
	defer cancel()
	for _, round := range rounds {
		if err := w.send(ctx, writer, round); ctx.Err() != nil {
			return gaveUpError{"records are neither acknowledged nor failed"}
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Send the records of a round and await them. A call returns after their acknowledgement; only calls that follow each other promise order.
func (w *work) send(ctx context.Context, writer *kafka.Writer, round sends) error {
	var calls sync.WaitGroup
	o, lanes := w.outcomes(round), newLanes()
	for _, records := range round {
		number := lanes.take()
		for at := range records {
			records[at].Producer = number.name()
			w.sent(records[at], "")
		}
		calls.Add(1)
		go func() {
			defer calls.Done()
			err := writer.WriteMessages(ctx, messages(records)...)
			for at, plan := range records {
				if problem := errorOf(err, at); problem != nil {
					o.failed(plan, problem)
				} else {
					o.acknowledged(plan, -1, -1) // kafka-go does not report where it is
				}
			}
			lanes.free(number)
		}()
		time.Sleep(w.pause)
	}
	calls.Wait()
	return o.firstError()
}

// Return the error of a message, by its position in a call that returned this error.
func errorOf(err error, at int) error {
	var each kafka.WriteErrors
	if errors.As(err, &each) && at < len(each) {
		return each[at]
	}
	return err
}

func messages(records []planned) []kafka.Message {
	all := []kafka.Message{}
	for _, plan := range records {
		m := kafka.Message{Topic: plan.Topic, Key: plan.key(), Value: plan.value(), Time: plan.time(), WriterData: plan}
		for _, header := range plan.Headers {
			m.Headers = append(m.Headers, kafka.Header{Key: header[0], Value: []byte(header[1])})
		}
		all = append(all, m)
	}
	return all
}

// Numbers of calls at the same time: calls of one number follow each other.
type lanes struct {
	mu   sync.Mutex
	used map[lane]bool
}

type lane int

func (l lane) name() string { return fmt.Sprintf("call-%d", l) }

func newLanes() *lanes { return &lanes{used: map[lane]bool{}} }

func (l *lanes) take() lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	number := lane(0)
	for l.used[number] {
		number++
	}
	l.used[number] = true
	return number
}

func (l *lanes) free(number lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.used, number)
}
