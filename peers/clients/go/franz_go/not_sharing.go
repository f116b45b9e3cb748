//go:build !v1.21

package main

func readShared(*work) error { return notOfferedError{} }
