// Workloads of sarama that write.
package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// A record to send, and where its outcome is collected.
type sending struct {
	planned
	*outcomes
}

func (s sending) message() *sarama.ProducerMessage {
	m := &sarama.ProducerMessage{Topic: s.Topic, Timestamp: s.time(), Metadata: s}
	if s.Key != nil {
		m.Key = sarama.StringEncoder(*s.Key)
	}
	if !s.Null {
		m.Value = sarama.ByteEncoder(s.value())
	}
	for _, header := range s.Headers {
		m.Headers = append(m.Headers, sarama.RecordHeader{Key: []byte(header[0]), Value: []byte(header[1])})
	}
	return m
}

// A partitioner that takes a record's partition if it has one.
type choosing struct{ sarama.Partitioner }

func (c choosing) Partition(m *sarama.ProducerMessage, count int32) (int32, error) {
	if chosen := m.Metadata.(sending).planned.Partition; chosen != nil {
		return *chosen, nil
	}
	return c.Partitioner.Partition(m, count)
}

func producing(w *work) *sarama.Config {
	c := settings(w, "producer")
	c.Producer.Partitioner = func(topic string) sarama.Partitioner { return choosing{sarama.NewHashPartitioner(topic)} }
	if c.Producer.Flush.Frequency = w.settings.linger(0); c.Producer.Flush.Frequency > 0 { // without it, sarama waits for the bytes for ever
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

// A producer whose outcomes are collected until it is closed.
type asyncProducer struct {
	sarama.AsyncProducer
	handing sync.WaitGroup // over records
	closed  chan struct{}  // once all outcomes are collected
}

func (w *work) producer(c *sarama.Config) (*asyncProducer, error) {
	producer, err := sarama.NewAsyncProducer(w.bootstrap, c)
	if err != nil {
		return nil, err
	}
	var channels sync.WaitGroup
	p := &asyncProducer{AsyncProducer: producer, closed: make(chan struct{})}
	channels.Add(2)
	go func() {
		defer channels.Done()
		for m := range producer.Successes() {
			written := m.Metadata.(sending)
			written.acknowledged(written.planned, m.Partition, m.Offset)
		}
	}()
	go func() {
		defer channels.Done()
		for problem := range producer.Errors() {
			refused := problem.Msg.Metadata.(sending)
			refused.failed(refused.planned, problem.Err)
		}
	}()
	go func() {
		channels.Wait()
		close(p.closed)
	}()
	return p, nil
}

// Hand over the records of a round in the background.
func (p *asyncProducer) handOver(w *work, round sends, transaction string) *outcomes {
	o := w.outcomes(round)
	p.handing.Add(1)
	go func() {
		defer p.handing.Done()
		for _, records := range round {
			for _, plan := range records {
				w.sent(plan, transaction)
				p.Input() <- sending{plan, o}.message()
			}
			time.Sleep(w.pause)
		}
	}()
	return o
}

// Send the records of a round and await them.
func (p *asyncProducer) send(w *work, round sends, transaction string) error {
	return p.handOver(w, round, transaction).wait()
}

// Send the records of a round and close the producer: to close flushes, as the documentation says.
func (p *asyncProducer) sendAndClose(w *work, round sends) error {
	o := p.handOver(w, round, "")
	p.close()
	select {
	case <-p.closed:
		return o.firstError()
	case <-time.After(w.patience):
		return gaveUpError{"the producer is not closed"}
	}
}

// Close in the background, after the last record is handed over: a closed producer panics at another one.
func (p *asyncProducer) close() {
	go func() {
		p.handing.Wait()
		p.AsyncClose()
	}()
}

// Make a producer idempotent, with the settings that this needs.
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

// Sarama has no flush: a round that ends with one is awaited.
func (w *work) sendWith(c *sarama.Config, rounds []sends) error {
	producer, err := w.producer(c)
	if err != nil {
		return err
	}
	for number, round := range rounds {
		if number == len(rounds)-1 && w.ending == closing {
			return producer.sendAndClose(w, round)
		}
		if err := producer.send(w, round, ""); err != nil {
			producer.close()
			return err
		}
	}
	producer.close()
	return nil
}

func (w *work) transactional(id string) (*asyncProducer, error) {
	c := once(producing(w))
	c.Producer.Transaction.ID = id
	return w.producer(c)
}

func transactAll(w *work) error {
	producer, err := w.transactional(w.group)
	if err != nil {
		return err
	}
	defer producer.close()
	return w.transactions(func(number int, round sends, aborts bool) error {
		for attempt := range attempts {
			name := fmt.Sprintf("%d.%d", number, attempt)
			failed, err := w.transaction(producer, name, round, func() error {
				if aborts {
					return errOnPurpose
				}
				return nil
			})
			if err != nil {
				return err
			}
			if failed == nil {
				w.ended(name, "committed")
				return nil
			}
			w.ended(name, "aborted")
			if failed == errOnPurpose {
				return nil
			}
		}
		return gaveUpError{fmt.Sprintf("transaction %d was aborted %d times", number, attempts)}
	})
}

var errOnPurpose = errors.New("aborted on purpose")

// Send records in a transaction, do a last step in it, and commit. failed: why it was aborted; err: why the producer can't continue.
func (w *work) transaction(producer *asyncProducer, name string, round sends, then func() error) (failed, err error) {
	if err := producer.BeginTxn(); err != nil {
		return nil, err
	}
	failed = producer.send(w, round, name)
	if failed == nil {
		failed = then()
	}
	if failed == nil {
		failed = w.commit(producer)
	}
	if failed == nil {
		return nil, nil
	}
	if producer.TxnStatus()&(sarama.ProducerTxnFlagFatalError|sarama.ProducerTxnFlagCommittingTransaction) != 0 {
		return failed, failed
	}
	return failed, producer.AbortTxn()
}

// Commit. Errors that are neither fatal nor abortable are tried again, as in sarama's example of exactly once.
func (w *work) commit(producer *asyncProducer) error {
	err := producer.CommitTxn()
	for until := time.Now().Add(w.patience); err != nil && producer.TxnStatus()&sarama.ProducerTxnFlagCommittingTransaction != 0 &&
		time.Now().Before(until); {
		err = producer.CommitTxn()
	}
	return err
}
