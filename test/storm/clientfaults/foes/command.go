package foes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"syscall"
)

// Command makes the program a crowd of hostile clients.
const Command = "hostile-clients"

// lowPriority is the nice value of them.
const lowPriority = 10

// Arguments are those of the command: an address to attack, the write key of a
// source, and how many clients of each slow kind there are; [Bodies] has those of
// half bodies attack instead.
func Arguments(addr, writeKey string, slow int) []string {
	return []string{Command, addr, writeKey, strconv.Itoa(slow)}
}

// Bodies is no number of slow clients.
const Bodies = -1

// Run attacks until ctx ends, then writes what that came to, which [Parse] reads.
func Run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 3 {
		return fmt.Errorf("%s: expected an address, a write key and a number, found %v", Command, args)
	}
	slow, err := strconv.Atoi(args[2])
	if err != nil {
		return fmt.Errorf("%s: expected a number of clients, found %q", Command, args[2])
	}
	if err = yieldToOthers(); err != nil {
		return fmt.Errorf("%s: lower the priority: %w", Command, err)
	}
	all := kinds(args[1], max(1, slow))
	if slow == Bodies {
		all = bodies()
	}
	return json.NewEncoder(out).Encode(attack(ctx, args[0], all))
}

// yieldToOthers lowers the priority of the process unless it is low already. It
// is that of the process group: of the process alone, it would be, on Linux, that
// of its first thread.
func yieldToOthers() error {
	now, err := syscall.Getpriority(syscall.PRIO_PGRP, 0)
	if err != nil {
		return err
	}
	if nice := 20 - now; nice >= lowPriority { // as the system call returns it
		return nil
	}
	return syscall.Setpriority(syscall.PRIO_PGRP, 0, lowPriority)
}

// Parse reads what Run wrote, which is the last line of what its process said.
func Parse(text []byte) ([]Tally, error) {
	var all []Tally
	text = bytes.TrimSpace(text)
	text = text[bytes.LastIndexByte(text, '\n')+1:]
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("decode what the hostile clients came to: %w", err)
	}
	return all, nil
}
