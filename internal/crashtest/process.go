package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const writeKey = "wk_crash"

// killProcess kills `anabranch run`, embedded broker and all, under HTTP calls.
func killProcess(ctx context.Context, p plan, dir string) error {
	binary, err := build(ctx, dir)
	if err != nil {
		return err
	}
	delivered := newBooks()
	hook, closeReceiver, err := delivered.receive()
	if err != nil {
		return err
	}
	defer closeReceiver()
	c, api, broker, err := p.process(binary, dir, hook)
	if err != nil {
		return err
	}
	if err := c.start(); err != nil {
		return err
	}
	defer func() { _ = c.cmd.Process.Kill() }()
	if err := c.ready(ctx); err != nil {
		return err
	}
	accepted := newBooks()
	sending, enough := context.WithTimeout(ctx, p.duration)
	defer enough()
	sent := make(chan int, 1)
	go func() { sent <- send(sending, p, "http://"+api+"/v1/track", accepted) }()
	if err := c.killOnSchedule(ctx, p); err != nil {
		return err
	}
	calls := <-sent
	dead := newBooks()
	drained := until(ctx, time.Minute, "the backlog to drain", func() bool {
		return len(accepted.missing(delivered)) == 0 || readDeadLetters(ctx, broker, dead) && len(accepted.missing(delivered, dead)) == 0
	})
	if err := c.stop(); err != nil {
		return err
	}
	lost := accepted.missing(delivered, dead)
	fmt.Printf("sent %d, accepted %d, delivered %d, dead letters %d, doubled %d, lost %d, kills %d\n",
		calls, len(accepted.ids()), len(delivered.ids()), len(dead.ids()), delivered.doubled(), len(lost), c.kills)
	return verdict(p, c, len(accepted.ids()), lost, drained)
}

func verdict(p plan, c *child, accepted int, lost []string, drained error) error {
	switch {
	case len(lost) > 0:
		return fmt.Errorf("%d accepted calls were lost, among them %s", len(lost), lost[0])
	case drained != nil:
		return drained
	case c.kills < p.kills:
		return fmt.Errorf("killed %d times instead of %d", c.kills, p.kills)
	case accepted < p.rate*int(p.duration.Seconds())/4:
		return fmt.Errorf("only %d calls were accepted: the process was down for most of the time", accepted)
	}
	return nil
}

// process prepares the child: a workspace with one destination, ports of its
// own, and a data directory that survives the kills.
func (p plan) process(binary, dir, hook string) (c *child, api, broker string, err error) {
	addrs := make([]string, 3)
	for i := range addrs {
		if addrs[i], err = freeAddr(); err != nil {
			return nil, "", "", err
		}
	}
	file := filepath.Join(dir, "workspace.yaml")
	if err := os.WriteFile(file, []byte(workspaceFile(hook)), 0o600); err != nil {
		return nil, "", "", err
	}
	return &child{
		binary: binary, target: "run", admin: addrs[2], loud: p.verbose,
		env: []string{
			"KAFKA_BROKERS=", "INGEST_ADDR=" + addrs[0], "BROKER_ADDR=" + addrs[1], "DATA_DIR=" + filepath.Join(dir, "data"),
			"WORKSPACE_FILE=" + file, "WEBHOOK_SINK_ALLOW_NETWORKS=127.0.0.0/8",
		},
	}, addrs[0], addrs[1], nil
}

func workspaceFile(hook string) string {
	return strings.NewReplacer("KEY", writeKey, "HOOK", hook).Replace(`sources:
  - id: crash
    name: Crash
    writeKey: KEY
destinations:
  - id: books
    type: webhooks
    name: Books
    sources: [crash]
    endpoints:
      - url: HOOK
`)
}
