// What every administrator in Go does.
package main

import "fmt"

// An administrator's calls. partitions: 0 where there is no such topic.
type administrator struct {
	create, increase, change, remove func(topic string) error
	partitions                       func(topic string) (int, error)
	retention                        func(topic string) (string, error)
}

const retention = "3600000" // what change sets retention.ms to

// Has an administrator make topics of two partitions, change them to three and to that retention, and delete them, each seen before
// the next step.
func (w *work) administer(a administrator) error {
	for number := range rounds {
		topic := fmt.Sprintf("%s-admin-%d", w.topic, number)
		has := func(wanted int) func() (bool, error) {
			return func() (bool, error) {
				found, err := a.partitions(topic)
				return found == wanted, err
			}
		}
		kept := func() (bool, error) {
			found, err := a.retention(topic)
			return found == retention, err
		}
		for _, step := range []struct {
			do   func(string) error
			what string
			seen func() (bool, error)
		}{
			{a.create, topic + " with 2 partitions", has(2)},
			{a.increase, topic + " with 3 partitions", has(3)},
			{a.change, "retention.ms of " + topic, kept},
			{a.remove, topic + " gone", has(0)},
		} {
			if err := step.do(topic); err != nil {
				return err
			}
			if err := w.shown(step.what, step.seen); err != nil {
				return err
			}
		}
	}
	return nil
}
