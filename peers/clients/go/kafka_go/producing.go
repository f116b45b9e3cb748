// The workload of kafka-go that writes.
package main

import (
	"context"
	"time"

	kafka "github.com/segmentio/kafka-go"
)

func sendAll(w *work) error {
	writer := &kafka.Writer{Addr: kafka.TCP(w.bootstrap), Topic: w.topic, Balancer: &kafka.Hash{}, RequiredAcks: kafka.RequireAll,
		BatchTimeout: w.pause, Transport: &kafka.Transport{ClientID: "producer"}}
	defer func() { _ = writer.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), w.patience)
	defer cancel()
	for at := 0; at < len(w.ids); at += atOnce {
		messages := []kafka.Message{}
		for _, id := range w.ids[at:min(at+atOnce, len(w.ids))] {
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
