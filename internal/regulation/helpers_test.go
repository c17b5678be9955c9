package regulation

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/keyring"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// follow fills a register from the topic until the test ends, and returns when
// it has all that the topic holds.
func follow(t *testing.T, c *testkit.Cluster) *Register {
	t.Helper()
	return followWith(t, c, nil)
}

// followWith is follow in a process that has keys.
func followWith(t *testing.T, c *testkit.Cluster, keys *Keys) *Register {
	t.Helper()
	register := NewRegister(keys, nil)
	set := wstopic.FollowerSettings{
		Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(), Kafka: c.Options(),
		Live: workspace.NewLive(workspace.NewSnapshot(nil, nil)), Regulations: register,
	}
	f := wstopic.NewRegulationsFollower(set, wstopic.NewFollower(set))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("follower: %v", err)
		}
	})
	testkit.Until(t, func() bool { return f.Ready() == nil }, "the follower to be ready")
	return register
}

func ledger(c *testkit.Cluster) *Ledger {
	return &Ledger{Kafka: c.Options(), TransactionalID: "test-regulation"}
}

// keysOf returns keys that are made of digits; the first one is current.
func keysOf(t *testing.T, of string) *Keys {
	t.Helper()
	texts := make([]string, len(of))
	for i, digit := range of {
		texts[i] = strings.Repeat(string(digit), 2*keyring.KeyBytes)
	}
	keys, err := ParseKeys(schemas.Secret(strings.Join(texts, ",")))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// store creates a regulation and waits until the register has it.
func store(t *testing.T, l *Ledger, register *Register, kind Type, users ...string) Regulation {
	t.Helper()
	r := New(kind, len(users), noon)
	if err := l.Create(t.Context(), r, users); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, func() bool { _, ok := register.Get(r.ID); return ok }, "the regulation to come back")
	return r
}

func take(t *testing.T, l *Ledger, register *Register, id string) *Run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	run, err := l.Take(ctx, id, register)
	if err != nil {
		t.Fatal(err)
	}
	if run == nil {
		t.Fatal("nothing is left to do")
	}
	t.Cleanup(run.Close)
	return run
}

// events are n records of raw-events.
func events(n int) []*kgo.Record {
	all := make([]*kgo.Record, n)
	for i := range all {
		all[i] = &kgo.Record{Topic: schemas.TopicRawEvents, Key: fmt.Appendf(nil, "u%d", i), Value: []byte("{}")}
	}
	return all
}

func topics(t *testing.T, c *testkit.Cluster) {
	t.Helper()
	c.CreateTopics(t, 1, schemas.TopicRegulations)
	c.CreateTopics(t, 3, schemas.TopicRawEvents)
}
