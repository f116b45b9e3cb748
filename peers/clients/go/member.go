// Members of a consumer group in Go: the variety of each is data, the keys of `members`.
package main

import (
	"errors"
	"time"
)

// A member of the work's group.
type member struct {
	Name     string  // also its client id
	After    int     // records that the members together receive before it joins
	Follows  string  // name of the member that leaves before it joins; empty: none
	Leaves   *int    // records that it receives before it leaves; nil: it stays
	Delay    float64 // seconds of work on the records of each poll
	Stall    float64 // seconds of work on its first records, in addition
	Pauses   bool    // pauses its partitions after each third poll with records, for two polls
	Rewinds  bool    // seeks to the committed offsets once, after its third poll with records
	Partial  bool    // commits only the offset of one partition after each poll
	Pattern  string  // which it subscribes to in place of the topics
	Settings memberSettings
}

// Settings of a consumer by Kafka's names. Zero: the library's default.
type memberSettings struct {
	Protocol          string `json:"group.protocol"`
	Assignor          string `json:"partition.assignment.strategy"`
	InstanceID        string `json:"group.instance.id"`
	Rack              string `json:"client.rack"`
	MetadataMaxAgeMS  int    `json:"metadata.max.age.ms"`
	SessionTimeoutMS  int    `json:"session.timeout.ms"`
	MaxPollRecords    int    `json:"max.poll.records"`
	FetchMinBytes     int    `json:"fetch.min.bytes"`
	FetchMaxWaitMS    *int   `json:"fetch.max.wait.ms"`
	MaxPartitionBytes int    `json:"max.partition.fetch.bytes"`
}

const (
	protocolConsumer    = "consumer"
	assignorCooperative = "cooperative-sticky"
	// The poll with records after which a member rewinds, and the number of them between two pauses.
	varietyPolls = 3
	pausedPolls  = 2
	heartbeat    = 3 * time.Second
)

func milliseconds(number int) time.Duration { return time.Duration(number) * time.Millisecond }

// Return the limit of records of a poll.
func (s memberSettings) maxPoll() int {
	if s.MaxPollRecords > 0 {
		return s.MaxPollRecords
	}
	return atOnce
}

// Return the session timeout and a heartbeat interval that suits it. Call it only if there is a timeout.
func (s memberSettings) sessionTimeout() (timeout, interval time.Duration) {
	timeout = milliseconds(s.SessionTimeoutMS)
	return timeout, min(heartbeat, timeout/3)
}

// A library's consumer in the work's group.
type groupConsumer interface {
	poll() ([]record, error) // once, for a tenth of a second
	// Commit the offsets after these records, one of each partition. Return whether they are known to be committed.
	commit(last []record) bool
	close()
}

// A consumer of a library that can pause partitions.
type pauser interface {
	pause([]topicPartition)
	resume()
}

// A consumer of a library that can seek: to the group's committed offsets, or to 0 if there is none.
type rewinder interface{ rewind([]topicPartition) }

// A member leaves before the workload is over.
var errLeaves = errors.New("the member leaves")

// Run each member from the time at which it joins, until it leaves or the workload is over. Return the first error.
func (w *work) runMembers(run func(m member, pending *pendingRecords) error) error {
	pending, results, departed := w.pendingRecords(true), make(chan error, len(w.members)), map[string]chan struct{}{}
	for _, m := range w.members {
		departed[m.Name] = make(chan struct{})
	}
	for _, m := range w.members {
		go func() {
			joins, err := pending.await(m.After, departed[m.Follows])
			if joins {
				err = run(m, pending)
			}
			close(departed[m.Name])
			results <- err
		}()
	}
	var failure error
	for range w.members {
		if err := <-results; err != nil && failure == nil {
			failure = err
			pending.end()
		}
	}
	if failure == nil && pending.count() > 0 {
		return pending.undelivered() // all members have left
	}
	return failure
}

// Read all records by the members, and commit what each has read. join: makes a library's consumer.
func (w *work) readInGroup(join func(m member, r *reader) (groupConsumer, error)) error {
	return w.runMembers(func(m member, pending *pendingRecords) error {
		r := w.reader(m.Name, event{"group": w.group})
		consumer, err := join(m, r)
		if err != nil {
			return err
		}
		defer consumer.close()
		running := &runningMember{member: m, reader: r, consumer: consumer, pending: pending}
		err = r.pollAll(pending, consumer.poll, running.handle)
		if err != nil && err != errLeaves {
			return err
		}
		r.commit(false, consumer.commit)
		return nil
	})
}

// A member, and how far it is. polls: with records. paused: the polls until it resumes.
type runningMember struct {
	member
	*reader
	consumer                groupConsumer
	pending                 *pendingRecords
	polls, receives, paused int
}

func (m *runningMember) handle(records []record) error {
	if len(records) > 0 {
		_ = m.pending.received(records)
		m.polls, m.receives = m.polls+1, m.receives+len(records)
		m.remember(records)
		m.work()
		if seeks, can := m.consumer.(rewinder); can && m.Rewinds && m.polls == varietyPolls {
			m.rewind(seeks)
		} else {
			m.commit(m.Partial, m.consumer.commit)
		}
		if m.Leaves != nil && m.receives >= *m.Leaves {
			return errLeaves
		}
	}
	m.pauseOrResume(len(records) > 0)
	return nil
}

// Work on the records of a poll: the first ones may take longer.
func (m *runningMember) work() {
	time.Sleep(seconds(m.Delay))
	if m.polls == 1 {
		time.Sleep(seconds(m.Stall))
	}
}

func (m *runningMember) pauseOrResume(hasRecords bool) {
	pauses, can := m.consumer.(pauser)
	switch {
	case !can || !m.Pauses:
	case m.paused > 1:
		m.paused--
	case m.paused == 1:
		m.paused = 0
		pauses.resume()
	case hasRecords && m.polls%varietyPolls == 0:
		m.paused = pausedPolls
		pauses.pause(m.assignment())
	}
}
