// Workloads of sarama that write.
package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"
)

func (w *work) message(topic, id, transaction string) *sarama.ProducerMessage {
	w.sent(topic, id, transaction)
	return &sarama.ProducerMessage{Topic: topic, Key: sarama.StringEncoder(id), Value: sarama.StringEncoder(id), Metadata: id}
}

// The acknowledgements of so many messages, and the first error among them.
func (w *work) all(producer sarama.AsyncProducer, count int) error {
	late := time.After(w.patience)
	var failed error
	for range count {
		select {
		case told := <-producer.Successes():
			w.acknowledged(told.Topic, told.Metadata.(string), told.Partition, told.Offset)
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
func once(c *sarama.Config) *sarama.Config {
	c.Producer.Idempotent, c.Producer.RequiredAcks, c.Net.MaxOpenRequests = true, sarama.WaitForAll, 1
	return c
}

func sendAll(w *work) error { return w.sendWith(settings(w, "producer"), w.ids) }

func sendOnce(w *work) error { return w.sendWith(once(settings(w, "producer")), w.ids) }

func sendCompressed(w *work) error {
	return w.coded(func(codec string, ids []string) error {
		c := settings(w, "producer")
		if err := c.Producer.Compression.UnmarshalText([]byte(codec)); err != nil {
			return err
		}
		return w.sendWith(c, ids)
	})
}

func (w *work) sendWith(c *sarama.Config, ids []string) error {
	producer, err := sarama.NewAsyncProducer(w.bootstrap, c)
	if err != nil {
		return err
	}
	defer producer.AsyncClose()
	go func() {
		for _, id := range ids {
			producer.Input() <- w.message(w.topic, id, "")
			time.Sleep(w.pause)
		}
	}()
	return w.all(producer, len(ids))
}

func (w *work) transactional() (sarama.AsyncProducer, error) {
	c := once(settings(w, "producer"))
	c.Producer.Transaction.ID = w.group
	return sarama.NewAsyncProducer(w.bootstrap, c)
}

func transactAll(w *work) error {
	producer, err := w.transactional()
	if err != nil {
		return err
	}
	defer producer.AsyncClose()
	return w.batches(func(number int, ids []string, aborts bool) error {
		for attempt := range attempts {
			name := fmt.Sprintf("%d.%d", number, attempt)
			failed, err := w.transaction(producer, name, w.topic, ids, func() error {
				if aborts {
					return errOnPurpose
				}
				return nil
			})
			if err != nil || failed == nil || failed == errOnPurpose {
				return err
			}
		}
		return gaveUpError{fmt.Sprintf("transaction %d was aborted %d times", number, attempts)}
	})
}

var errOnPurpose = errors.New("aborted on purpose")

// Sends in a transaction, does that too, and commits. failed: why it was aborted; err: why the producer can't go on.
func (w *work) transaction(producer sarama.AsyncProducer, name, topic string, ids []string, then func() error) (failed, err error) {
	if err := producer.BeginTxn(); err != nil {
		return nil, err
	}
	go func() {
		for _, id := range ids {
			producer.Input() <- w.message(topic, id, name)
		}
	}()
	failed = w.all(producer, len(ids))
	if failed == nil {
		failed = then()
	}
	if failed == nil {
		failed = w.commit(producer)
	}
	if failed == nil {
		w.ended(name, "committed")
		return nil, nil
	}
	if producer.TxnStatus()&(sarama.ProducerTxnFlagFatalError|sarama.ProducerTxnFlagCommittingTransaction) != 0 {
		return failed, failed
	}
	if err := producer.AbortTxn(); err != nil {
		return failed, err
	}
	w.ended(name, "aborted")
	return failed, nil
}

// Commits; what is neither fatal nor abortable is tried again, as sarama's example of exactly once has it.
func (w *work) commit(producer sarama.AsyncProducer) error {
	err := producer.CommitTxn()
	for until := time.Now().Add(w.patience); err != nil && producer.TxnStatus()&sarama.ProducerTxnFlagCommittingTransaction != 0 &&
		time.Now().Before(until); {
		err = producer.CommitTxn()
	}
	return err
}
