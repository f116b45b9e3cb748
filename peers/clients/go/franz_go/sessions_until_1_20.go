//go:build !v1.21

package main

import "github.com/twmb/franz-go/pkg/kgo"

func pushing(bool) []kgo.Opt { return nil }

var shareGroup session
