// Workloads of sarama that read.
package main

import (
	"time"

	"github.com/IBM/sarama"
)

const (
	pollTimeout   = 100 * time.Millisecond
	gatherTimeout = 10 * time.Millisecond // for each further claim of a poll
)

// Read all partitions without a group.
func readPartitions(w *work) error {
	r := w.reader("reader", event{})
	consumer, err := sarama.NewConsumer(w.bootstrap, settings(w, r.name))
	if err != nil {
		return err
	}
	defer func() { _ = consumer.Close() }()
	messages, done := make(chan *sarama.ConsumerMessage), make(chan struct{})
	for _, topic := range w.topics {
		for partition := range int32(w.partitions) {
			part, err := consumer.ConsumePartition(topic, partition, sarama.OffsetOldest)
			if err != nil {
				return err
			}
			defer func() { _ = part.Close() }()
			r.assigned(topic, partition)
			go func() {
				for message := range part.Messages() {
					select {
					case messages <- message:
					case <-done:
						return
					}
				}
			}()
		}
	}
	defer close(done)
	pending := w.pendingRecords(false)
	return r.pollAll(pending, func() ([]record, error) {
		select {
		case message := <-messages:
			return received(message), nil
		case <-time.After(pollTimeout):
			return nil, nil
		}
	}, pending.received)
}

func received(messages ...*sarama.ConsumerMessage) []record {
	records := []record{}
	for _, m := range messages {
		records = append(records, record{topic: m.Topic, partition: m.Partition, offset: m.Offset, id: recordID(m.Key, m.Value)})
	}
	return records
}
