// The workload of kafka-go that writes.
package main

import (
	"context"
	"time"

	kafka "github.com/segmentio/kafka-go"
)

func sendAll(w *work) error { return w.sendWith(kafka.Compression(0), w.ids) }

func sendCompressed(w *work) error {
	return w.coded(func(codec string, ids []string) error {
		var c kafka.Compression
		if err := c.UnmarshalText([]byte(codec)); err != nil {
			return err
		}
		return w.sendWith(c, ids)
	})
}

func (w *work) sendWith(codec kafka.Compression, ids []string) error {
	writer := &kafka.Writer{Addr: kafka.TCP(w.bootstrap...), Topic: w.topic, Balancer: &kafka.Hash{}, RequiredAcks: kafka.RequireAll,
		BatchTimeout: max(w.pause, time.Millisecond), Compression: codec, Transport: &kafka.Transport{ClientID: "producer"}}
	defer func() { _ = writer.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), w.patience)
	defer cancel()
	for at := 0; at < len(ids); at += atOnce {
		messages := []kafka.Message{}
		for _, id := range ids[at:min(at+atOnce, len(ids))] {
			w.sent(w.topic, id, "")
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
