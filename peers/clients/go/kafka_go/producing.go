// The workload of kafka-go that writes.
package main

import (
	"context"
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

func (c choosing) Balance(one kafka.Message, partitions ...int) int {
	if chosen := one.WriterData.(planned).Partition; chosen != nil {
		return int(*chosen)
	}
	return c.Balancer.Balance(one, partitions...)
}

// Its batch size is a limit for records, and it has no other number of requests in flight.
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

// Send the records of a round and await them. A call ends with their acknowledgement; order is promised of calls that follow each
// other only.
func (w *work) send(ctx context.Context, writer *kafka.Writer, round sends) error {
	var calls sync.WaitGroup
	failed, lanes := make(chan error, len(round)), newLanes()
	for _, records := range round {
		lane := lanes.take()
		for _, one := range records {
			w.tell("sent", event{"id": one.ID, "topic": one.Topic, "producer": lane.name()})
		}
		calls.Add(1)
		go func() {
			defer calls.Done()
			if err := writer.WriteMessages(ctx, messages(records)...); err != nil {
				failed <- err
			} else {
				for _, one := range records { // it does not say where they are
					w.tell("acknowledged", event{"id": one.ID, "topic": one.Topic})
				}
			}
			lanes.free(lane)
		}()
		time.Sleep(w.pause)
	}
	calls.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func messages(records []planned) []kafka.Message {
	found := []kafka.Message{}
	for _, one := range records {
		made := kafka.Message{Topic: one.Topic, Key: one.key(), Value: one.value(), Time: one.time(), WriterData: one}
		for _, header := range one.Headers {
			made.Headers = append(made.Headers, kafka.Header{Key: header[0], Value: []byte(header[1])})
		}
		found = append(found, made)
	}
	return found
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
	one := lane(0)
	for l.used[one] {
		one++
	}
	l.used[one] = true
	return one
}

func (l *lanes) free(one lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.used, one)
}
