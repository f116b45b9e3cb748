// Workloads of sarama that read.
package main

import (
	"context"
	"time"

	"github.com/IBM/sarama"
)

// Partitions that it chose itself.
func readPartitions(w *work) error {
	r := w.reader("reader", event{})
	consumer, err := sarama.NewConsumer(w.bootstrap, settings(w, r.name))
	if err != nil {
		return err
	}
	defer func() { _ = consumer.Close() }()
	messages, done := make(chan *sarama.ConsumerMessage), make(chan struct{})
	for partition := range int32(w.partitions) {
		part, err := consumer.ConsumePartition(w.topic, partition, sarama.OffsetOldest)
		if err != nil {
			return err
		}
		defer func() { _ = part.Close() }()
		r.assigned(w.topic, partition)
		go func() {
			for one := range part.Messages() {
				select {
				case messages <- one:
				case <-done:
					return
				}
			}
		}()
	}
	defer close(done)
	missing := w.missing(false)
	for {
		if on, err := missing.goesOn(); !on {
			return err
		}
		select {
		case one := <-messages:
			r.consumed(one.Topic, one.Partition, one.Offset, one.Value)
			missing.found(one.Value)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func readInGroup(w *work) error {
	r, missing := w.reader("reader", event{"group": w.group}), w.missing(true)
	return r.join(settings(w, r.name), missing, func(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
		for one := range claim.Messages() {
			r.consumed(one.Topic, one.Partition, one.Offset, one.Value)
			missing.found(one.Value)
			session.MarkMessage(one, "")
			// it says of a commit neither that it is done nor that it failed: nothing is told of it
			if one.Offset%atOnce == 0 {
				session.Commit()
			}
		}
		return nil
	})
}

// What a member does with a partition that it was assigned, until it is taken away; the session ends where one of them returns.
type claimed func(sarama.ConsumerGroupSession, sarama.ConsumerGroupClaim) error

// Is a member of the work's group until nothing is missing, or one fails.
func (r *reader) join(c *sarama.Config, missing *missing, do claimed) error {
	group, err := sarama.NewConsumerGroup(r.w.bootstrap, r.w.group, c)
	if err != nil {
		return err
	}
	defer func() { _ = group.Close() }()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		for ; ; time.Sleep(100 * time.Millisecond) {
			if on, err := missing.goesOn(); !on {
				cancel(err)
				return
			}
		}
	}()
	handler := joined{r, func(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
		err := do(session, claim)
		if err != nil {
			cancel(err)
		}
		return err
	}}
	for ctx.Err() == nil {
		if err := group.Consume(ctx, []string{r.w.topic}, handler); err != nil && ctx.Err() == nil {
			return err
		}
	}
	if why := context.Cause(ctx); why != context.Canceled {
		return why
	}
	return nil
}

type joined struct {
	r  *reader
	do claimed
}

func (j joined) Setup(session sarama.ConsumerGroupSession) error {
	for topic, partitions := range session.Claims() {
		for _, partition := range partitions {
			j.r.assigned(topic, partition)
		}
	}
	return nil
}

func (joined) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (j joined) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	return j.do(session, claim)
}
