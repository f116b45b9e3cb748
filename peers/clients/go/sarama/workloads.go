// Workloads of sarama.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/IBM/sarama"
)

var workloads = map[string]workload{"produce": sendAll, "idempotent": sendOnce, "transact": transactAll, "group": readAll}

func (w *work) config() *sarama.Config {
	c := sarama.NewConfig()
	c.ClientID = "producer"
	c.Producer.Return.Successes = true
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	c.Consumer.Offsets.AutoCommit.Enable = false
	return c
}

func (w *work) message(id, transaction string) *sarama.ProducerMessage {
	w.sent(id, transaction)
	return &sarama.ProducerMessage{Topic: w.topic, Key: sarama.StringEncoder(id), Value: sarama.StringEncoder(id), Metadata: id}
}

// The acknowledgements of so many messages, and the first error among them.
func (w *work) all(producer sarama.AsyncProducer, count int) error {
	late := time.After(w.patience)
	var failed error
	for range count {
		select {
		case told := <-producer.Successes():
			w.acknowledged(told.Metadata.(string), told.Partition, told.Offset)
		case problem := <-producer.Errors():
			if failed == nil {
				failed = problem.Err
			}
		case <-late:
			return gaveUpError{"records are neither acknowledged nor failed"}
		}
	}
	return failed
}

// What its documents ask for where it is idempotent.
func (w *work) once() *sarama.Config {
	c := w.config()
	c.Producer.Idempotent, c.Producer.RequiredAcks, c.Net.MaxOpenRequests = true, sarama.WaitForAll, 1
	return c
}

func sendAll(w *work) error { return w.sendWith(w.config()) }

func sendOnce(w *work) error { return w.sendWith(w.once()) }

func (w *work) sendWith(c *sarama.Config) error {
	producer, err := sarama.NewAsyncProducer([]string{w.bootstrap}, c)
	if err != nil {
		return err
	}
	defer producer.AsyncClose()
	go func() {
		for _, id := range w.ids {
			producer.Input() <- w.message(id, "")
			time.Sleep(w.pause)
		}
	}()
	return w.all(producer, len(w.ids))
}

func transactAll(w *work) error {
	c := w.once()
	c.Producer.Transaction.ID = w.group
	producer, err := sarama.NewAsyncProducer([]string{w.bootstrap}, c)
	if err != nil {
		return err
	}
	defer producer.AsyncClose()
	return w.batches(func(number int, ids []string, aborts bool) error {
		for attempt := range attempts {
			name := fmt.Sprintf("%d.%d", number, attempt)
			if err := producer.BeginTxn(); err != nil {
				return err
			}
			go func() {
				for _, id := range ids {
					producer.Input() <- w.message(id, name)
				}
			}()
			failed := w.all(producer, len(ids))
			if failed == nil && !aborts {
				err := producer.CommitTxn()
				for until := time.Now().Add(w.patience); err != nil && producer.TxnStatus()&sarama.ProducerTxnFlagCommittingTransaction != 0 &&
					producer.TxnStatus()&sarama.ProducerTxnFlagFatalError == 0 && time.Now().Before(until); {
					err = producer.CommitTxn()
				}
				if err == nil {
					w.ended(name, "committed")
					return nil
				}
				failed = err
			}
			if producer.TxnStatus()&sarama.ProducerTxnFlagFatalError != 0 {
				return failed
			}
			if err := producer.AbortTxn(); err != nil {
				return err
			}
			w.ended(name, "aborted")
			if aborts && failed == nil {
				return nil
			}
		}
		return gaveUpError{fmt.Sprintf("transaction %d was aborted %d times", number, attempts)}
	})
}

type reader struct {
	w       *work
	missing *missing
	failed  error
}

func (r *reader) Setup(session sarama.ConsumerGroupSession) error {
	for topic, partitions := range session.Claims() {
		for _, partition := range partitions {
			r.w.assigned(topic, partition)
		}
	}
	return nil
}

func (r *reader) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (r *reader) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for one := range claim.Messages() {
		r.w.speaking.Lock()
		delete(r.missing.ids, string(one.Value))
		r.w.speaking.Unlock()
		r.w.consumed(one.Topic, one.Partition, one.Offset, one.Value)
		session.MarkMessage(one, "")
		// it says of a commit neither that it is done nor that it failed: nothing is told of it
		if one.Offset%atOnce == 0 {
			session.Commit()
		}
	}
	return nil
}

func readAll(w *work) error {
	c := w.config()
	c.ClientID = "reader"
	group, err := sarama.NewConsumerGroup([]string{w.bootstrap}, w.group, c)
	if err != nil {
		return err
	}
	defer func() { _ = group.Close() }()
	w.consumer()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := &reader{w: w, missing: w.missing()}
	go func() {
		for {
			w.speaking.Lock()
			on, err := r.missing.goesOn()
			w.speaking.Unlock()
			if !on {
				r.failed = err
				cancel()
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	for ctx.Err() == nil {
		if err := group.Consume(ctx, []string{w.topic}, r); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return r.failed
}
