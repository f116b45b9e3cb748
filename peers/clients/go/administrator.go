// The steps of every administrator in Go.
package main

import "fmt"

// An administrator's calls. partitions: 0 if the topic does not exist. retention: empty if the broker does not know the topic yet.
type administrator struct {
	create, increase, change, remove func(topic string) error
	partitions                       func(topic string) (int, error)
	retention                        func(topic string) (string, error)
}

const retention = "3600000" // the retention.ms that an administrator sets

// Create topics of two partitions, increase them to three, set their retention, and delete them. Each step is visible before the next.
func (w *work) administer(a administrator) error {
	for number := range adminTopics {
		topic := fmt.Sprintf("%s-admin-%d", w.topics[0], number)
		hasPartitions := func(expected int) func() (bool, error) {
			return func() (bool, error) {
				count, err := a.partitions(topic)
				return count == expected, err
			}
		}
		hasRetention := func() (bool, error) {
			value, err := a.retention(topic)
			return value == retention, err
		}
		for _, step := range []struct {
			do      func(string) error
			change  string
			visible func() (bool, error)
		}{
			{a.create, topic + " with 2 partitions", hasPartitions(2)},
			{a.increase, topic + " with 3 partitions", hasPartitions(3)},
			{a.change, "retention.ms of " + topic, hasRetention},
			{a.remove, topic + " gone", hasPartitions(0)},
		} {
			if err := step.do(topic); err != nil {
				return err
			}
			if err := w.waitUntilVisible(step.change, step.visible); err != nil {
				return err
			}
		}
	}
	return nil
}
