// Workloads of sarama that write.
package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"
)

func message(one planned) *sarama.ProducerMessage {
	made := &sarama.ProducerMessage{Topic: one.Topic, Timestamp: one.time(), Metadata: one}
	if one.Key != nil {
		made.Key = sarama.StringEncoder(*one.Key)
	}
	if !one.Null {
		made.Value = sarama.ByteEncoder(one.value())
	}
	for _, header := range one.Headers {
		made.Headers = append(made.Headers, sarama.RecordHeader{Key: []byte(header[0]), Value: []byte(header[1])})
	}
	return made
}

// A partitioner that takes a record's partition if it has one.
type choosing struct{ sarama.Partitioner }

func (c choosing) Partition(one *sarama.ProducerMessage, count int32) (int32, error) {
	if chosen := one.Metadata.(planned).Partition; chosen != nil {
		return *chosen, nil
	}
	return c.Partitioner.Partition(one, count)
}

func producing(w *work) *sarama.Config {
	c := settings(w, "producer")
	c.Producer.Partitioner = func(topic string) sarama.Partitioner { return choosing{sarama.NewHashPartitioner(topic)} }
	if c.Producer.Flush.Frequency = w.settings.linger(0); c.Producer.Flush.Frequency > 0 { // else it would wait for the bytes for ever
		c.Producer.Flush.Bytes = w.settings.BatchSize
	}
	if w.settings.MaxInFlight > 0 {
		c.Net.MaxOpenRequests = w.settings.MaxInFlight
	}
	if w.settings.Compression != "" {
		_ = c.Producer.Compression.UnmarshalText([]byte(w.settings.Compression))
	}
	return c
}

// Send the records of a round and await them.
func (w *work) send(producer sarama.AsyncProducer, round sends, transaction string) error {
	go func() {
		for _, records := range round {
			for _, one := range records {
				w.sent(one.Topic, one.ID, transaction)
				producer.Input() <- message(one)
			}
			time.Sleep(w.pause)
		}
	}()
	return w.all(producer, round.count())
}

// The acknowledgements of so many messages, and the first error among them.
func (w *work) all(producer sarama.AsyncProducer, count int) error {
	late := time.After(w.patience)
	var failed error
	for range count {
		select {
		case told := <-producer.Successes():
			w.acknowledged(told.Topic, told.Metadata.(planned).ID, told.Partition, told.Offset)
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

func sendAll(w *work) error { return w.sendWith(producing(w), w.rounds) }

func sendOnce(w *work) error { return w.sendWith(once(producing(w)), w.rounds) }

func sendCompressed(w *work) error {
	return w.coded(func(codec string, rounds []sends) error {
		c := producing(w)
		if err := c.Producer.Compression.UnmarshalText([]byte(codec)); err != nil {
			return err
		}
		return w.sendWith(c, rounds)
	})
}

func (w *work) sendWith(c *sarama.Config, rounds []sends) error {
	producer, err := sarama.NewAsyncProducer(w.bootstrap, c)
	if err != nil {
		return err
	}
	defer producer.AsyncClose()
	for _, round := range rounds {
		if err := w.send(producer, round, ""); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) transactional() (sarama.AsyncProducer, error) {
	c := once(producing(w))
	c.Producer.Transaction.ID = w.group
	return sarama.NewAsyncProducer(w.bootstrap, c)
}

func transactAll(w *work) error {
	producer, err := w.transactional()
	if err != nil {
		return err
	}
	defer producer.AsyncClose()
	return w.transactions(func(number int, round sends, aborts bool) error {
		for attempt := range attempts {
			name := fmt.Sprintf("%d.%d", number, attempt)
			failed, err := w.transaction(producer, name, round, func() error {
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
func (w *work) transaction(producer sarama.AsyncProducer, name string, round sends, then func() error) (failed, err error) {
	if err := producer.BeginTxn(); err != nil {
		return nil, err
	}
	failed = w.send(producer, round, name)
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
