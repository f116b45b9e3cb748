// Members of groups by sarama.
package main

import (
	"context"
	"time"

	"github.com/IBM/sarama"
)

func readInGroup(w *work) error { return w.readInGroup(join) }

func join(m member, r *reader) (groupConsumer, error) {
	c, err := m.config(r.w)
	if err != nil {
		return nil, err
	}
	return r.join(c, m.Settings.maxPoll(), r.w.partitions*len(r.w.topics))
}

// Return the settings of a member. Static membership and racks need versions above the default of old releases.
func (m member) config(w *work) (*sarama.Config, error) {
	c, s := settings(w, m.Name), m.Settings
	if s.Protocol == protocolConsumer || m.Pattern != "" {
		return nil, notOfferedError{}
	}
	if s.Assignor == assignorCooperative {
		strategies := cooperativeStrategies()
		if strategies == nil {
			return nil, notOfferedError{}
		}
		c.Consumer.Group.Rebalance.GroupStrategies = strategies
	}
	c.Consumer.Group.InstanceId, c.RackID = s.InstanceID, s.Rack
	if w.broker == "" && s.InstanceID+s.Rack != "" && !c.Version.IsAtLeast(sarama.V2_4_0_0) {
		c.Version = sarama.V2_4_0_0
	}
	if s.MetadataMaxAgeMS > 0 {
		c.Metadata.RefreshFrequency = milliseconds(s.MetadataMaxAgeMS)
	}
	if s.SessionTimeoutMS > 0 {
		c.Consumer.Group.Session.Timeout, c.Consumer.Group.Heartbeat.Interval = s.sessionTimeout()
	}
	if s.FetchMinBytes > 0 {
		c.Consumer.Fetch.Min = int32(s.FetchMinBytes)
	}
	if s.FetchMaxWaitMS != nil {
		c.Consumer.MaxWaitTime = max(milliseconds(*s.FetchMaxWaitMS), time.Millisecond)
	}
	if s.MaxPartitionBytes > 0 {
		c.Consumer.Fetch.Default = int32(s.MaxPartitionBytes)
	}
	return c, nil
}

// A member that is polled. Its claims hand over their messages, and wait until these are handled.
type claims struct {
	r        *reader
	group    sarama.ConsumerGroup
	most     int // messages of a claim in a poll: the limit of a poll, since sarama has none
	together int // claims in a poll
	batches  chan batch
	handled  []batch                     // of the last poll
	session  sarama.ConsumerGroupSession // the last one with messages
	leave    context.CancelFunc
	ended    chan error // has the group's error after its end
}

// Messages of a claim.
type batch struct {
	session  sarama.ConsumerGroupSession
	messages []*sarama.ConsumerMessage
	goesOn   chan bool // whether the claim goes on after them
}

// Join the work's group.
func (r *reader) join(c *sarama.Config, most, together int) (*claims, error) {
	group, err := sarama.NewConsumerGroup(r.w.bootstrap, r.w.group, c)
	if err != nil {
		return nil, err
	}
	ctx, leave := context.WithCancel(context.Background())
	member := &claims{r: r, group: group, most: most, together: together, batches: make(chan batch), leave: leave, ended: make(chan error, 1)}
	go func() {
		var err error
		for err == nil && ctx.Err() == nil {
			err = group.Consume(ctx, r.w.topics, member)
		}
		if ctx.Err() != nil {
			err = nil
		}
		member.ended <- err
	}()
	return member, nil
}

func (c *claims) poll() ([]record, error) {
	c.release(true)
	records := []record{}
	for wait := pollTimeout; len(c.handled) < c.together; wait = gatherTimeout {
		select {
		case b := <-c.batches:
			if b.session.Context().Err() != nil {
				b.goesOn <- false
				return records, nil
			}
			c.handled, c.session = append(c.handled, b), b.session
			records = append(records, received(b.messages...)...)
		case err := <-c.ended:
			c.ended <- nil
			return records, err
		case <-time.After(wait):
			return records, nil
		}
	}
	return records, nil
}

// Let the claims of the last poll go on, or end their session: the next session reads again from the committed offsets.
func (c *claims) release(goesOn bool) {
	for _, b := range c.handled {
		b.goesOn <- goesOn
	}
	c.handled = nil
}

// Mark and commit offsets. Sarama reports neither success nor failure of a commit: it is not reported as committed.
func (c *claims) commit(last []record) bool {
	for _, l := range last {
		c.session.MarkOffset(l.topic, l.partition, l.offset+1, "")
	}
	c.session.Commit()
	return false
}

func (c *claims) pause([]topicPartition) { c.group.PauseAll() }

func (c *claims) resume() { c.group.ResumeAll() }

func (c *claims) close() {
	c.leave()
	c.release(true)
	<-c.ended
	_ = c.group.Close()
}

func (*claims) Setup(sarama.ConsumerGroupSession) error { return nil }

func (*claims) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (c *claims) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	c.r.assigned(claim.Topic(), claim.Partition())
	defer c.r.revoked(claim.Topic(), claim.Partition())
	for first := range claim.Messages() {
		b := batch{session, available(first, claim.Messages(), c.most), make(chan bool, 1)}
		select {
		case c.batches <- b:
			if !<-b.goesOn {
				return nil
			}
		case <-session.Context().Done():
			return nil
		}
	}
	return nil
}

// Return this message and those that are available at once.
func available(first *sarama.ConsumerMessage, more <-chan *sarama.ConsumerMessage, most int) []*sarama.ConsumerMessage {
	messages := []*sarama.ConsumerMessage{first}
	for len(messages) < most {
		select {
		case message, open := <-more:
			if !open {
				return messages
			}
			messages = append(messages, message)
		default:
			return messages
		}
	}
	return messages
}
