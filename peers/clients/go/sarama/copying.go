// The workload of sarama that reads, processes and writes, exactly once.
package main

import (
	"strconv"
	"sync"

	"github.com/IBM/sarama"
)

// Its partitions take turns with one producer. Where a transaction was aborted the session ends, and the next reads again from what is
// committed: a claim can't be rewound.
func copyAll(w *work) error {
	producer, err := w.transactional()
	if err != nil {
		return err
	}
	defer producer.AsyncClose()
	c := settings(w, "reader")
	c.Consumer.IsolationLevel = sarama.ReadCommitted
	r, missing := w.reader(c.ClientID, event{"group": w.group, "isolation": "read_committed"}), w.missing(true)
	var mu sync.Mutex
	number := 0
	return r.join(c, missing, func(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
		for first := range claim.Messages() {
			found := batch(first, claim.Messages())
			mu.Lock()
			if session.Context().Err() != nil {
				mu.Unlock()
				return nil
			}
			number++
			failed, err := r.copied(producer, found, strconv.Itoa(number))
			mu.Unlock()
			if err != nil || failed != nil {
				return err
			}
			for _, one := range found {
				missing.found(one.Value)
			}
		}
		return nil
	})
}

// This one, and what has come behind it.
func batch(first *sarama.ConsumerMessage, more <-chan *sarama.ConsumerMessage) []*sarama.ConsumerMessage {
	found := []*sarama.ConsumerMessage{first}
	for len(found) < atOnce {
		select {
		case one, open := <-more:
			if !open {
				return found
			}
			found = append(found, one)
		default:
			return found
		}
	}
	return found
}

func (r *reader) copied(producer sarama.AsyncProducer, found []*sarama.ConsumerMessage, name string) (failed, err error) {
	copies := []planned{}
	for _, one := range found {
		r.consumed(one.Topic, one.Partition, one.Offset, one.Value)
		copies = append(copies, copied(r.w.output, one.Value))
	}
	last := found[len(found)-1]
	failed, err = r.w.transaction(producer, name, sends{copies}, func() error {
		return producer.AddMessageToTxn(last, r.w.group, nil)
	})
	if failed == nil && err == nil {
		r.w.committed(last.Topic, last.Partition, last.Offset+1)
	}
	return failed, err
}
