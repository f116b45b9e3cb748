// The workload of sarama that reads, processes and writes, exactly once.
package main

import "github.com/IBM/sarama"

func copyAll(w *work) error { return w.copyAll(joinCopying) }

func joinCopying(r *reader, transactionalID string) (copier, error) {
	producer, err := r.w.transactional(transactionalID)
	if err != nil {
		return nil, err
	}
	c := settings(r.w, r.name)
	c.Consumer.IsolationLevel = sarama.ReadCommitted
	member, err := r.join(c, atOnce, 1)
	if err != nil {
		producer.close()
		return nil, err
	}
	return copying{member, producer}, nil
}

// The partitions take turns with one producer. After an abort the session ends: a claim can't be rewound.
type copying struct {
	*claims
	producer *asyncProducer
}

func (c copying) close() {
	c.claims.close()
	c.producer.close()
}

func (c copying) copy(records []record, copies sends, transaction string) (bool, error) {
	last := c.handled[0].messages[len(records)-1]
	failed, err := c.r.w.transaction(c.producer, transaction, copies, func() error {
		return c.producer.AddMessageToTxn(last, c.r.w.group, nil)
	})
	if failed != nil {
		c.release(false)
	}
	return failed == nil, err
}
