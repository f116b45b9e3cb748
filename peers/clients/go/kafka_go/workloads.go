// Workloads of segmentio's kafka-go, which has no idempotent or transactional producer.
package main

import (
	"context"
	"time"

	kafka "github.com/segmentio/kafka-go"
)

var workloads = map[string]workload{"produce": sendAll, "group": readAll}

func sendAll(w *work) error {
	writer := &kafka.Writer{Addr: kafka.TCP(w.bootstrap), Topic: w.topic, Balancer: &kafka.Hash{}, RequiredAcks: kafka.RequireAll,
		BatchTimeout: w.pause, Transport: &kafka.Transport{ClientID: "producer"}}
	defer func() { _ = writer.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), w.patience)
	defer cancel()
	for at := 0; at < len(w.ids); at += atOnce {
		messages := []kafka.Message{}
		for _, id := range w.ids[at:min(at+atOnce, len(w.ids))] {
			w.sent(id, "")
			messages = append(messages, kafka.Message{Key: []byte(id), Value: []byte(id)})
		}
		if err := writer.WriteMessages(ctx, messages...); ctx.Err() != nil {
			return gaveUpError{"records are neither acknowledged nor failed"}
		} else if err != nil {
			return err
		}
		for _, one := range messages { // it does not say where they are
			w.tell("acknowledged", event{"id": string(one.Value), "topic": w.topic})
		}
		time.Sleep(atOnce * w.pause)
	}
	return nil
}

func readAll(w *work) error {
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{w.bootstrap}, GroupID: w.group, Topic: w.topic, StartOffset: kafka.FirstOffset,
		MaxWait: 100 * time.Millisecond, Dialer: &kafka.Dialer{ClientID: "reader", Timeout: 10 * time.Second}})
	defer func() { _ = reader.Close() }()
	w.consumer() // it does not say which partitions it gets
	missing := w.missing()
	for {
		if on, err := missing.goesOn(); !on {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		one, err := reader.FetchMessage(ctx)
		cancel()
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err != nil {
			continue
		}
		w.consumed(one.Topic, int32(one.Partition), one.Offset, one.Value)
		delete(missing.ids, string(one.Value))
		if one.Offset%atOnce != 0 {
			continue
		}
		ctx, cancel = context.WithTimeout(context.Background(), w.patience)
		err = reader.CommitMessages(ctx, one)
		cancel()
		if err == nil {
			w.committed(one.Topic, int32(one.Partition), one.Offset+1)
		}
	}
}
