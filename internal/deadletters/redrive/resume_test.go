package redrive

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestInterruptedAndResumed: the end of the context between two batches, again
// and again.
func TestInterruptedAndResumed(t *testing.T) {
	t.Parallel()
	const n = 100
	p := newPlant(t, testkit.Brokers(t), n)
	set := p.settings()
	set.Rate = 100
	for sent := 20; sent <= 60; sent += 20 {
		ctx, cancel := context.WithCancel(t.Context())
		p.after(sent, cancel)
		err := Run(ctx, set)
		cancel()
		if err == nil || !strings.Contains(err.Error(), "interrupted") || !strings.Contains(err.Error(), "the same command continues") {
			t.Fatalf("interrupted after %d: %v", sent, err)
		}
	}
	p.run(set)
	p.delivered(n, n)
	p.cluster.ReadAll(t, schemas.TopicRedriven, n)
}

// TestAgainInterruptedAndResumed: with the moment that the first run names, the
// second one is the same run.
func TestAgainInterruptedAndResumed(t *testing.T) {
	t.Parallel()
	const n = 60
	p := newPlant(t, testkit.Brokers(t), n)
	p.run(p.settings())
	set := p.settings()
	set.Rate, set.Again = 100, time.Now().Truncate(time.Millisecond).Add(time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	p.after(n+20, cancel)
	err := Run(ctx, set)
	if flag := newRun(set).pinned(); err == nil || !strings.Contains(err.Error(), flag) || !strings.Contains(p.err.String(), flag) {
		t.Fatalf("the interrupted run says %v and %q, want %s in both", err, p.err.String(), flag)
	}
	p.run(set)
	p.delivered(2*n, n)
}

// TestKilled: the connection of a run ends at any moment, and a batch is written
// and never committed.
func TestKilled(t *testing.T) {
	t.Parallel()
	const n = 100
	p := newPlant(t, testkit.Brokers(t), n)
	set := p.settings()
	set.Rate = 100
	p.Ensure(t, schemas.TopicRedriven)
	for sent := 20; sent <= 60; sent += 20 {
		writer, err := open(t.Context(), p.Kafka)
		if err != nil {
			t.Fatal(err)
		}
		p.after(sent, writer.Close)
		if err := newRun(set).redrive(t.Context(), writer); err == nil {
			t.Fatalf("killed after %d, and it did not notice", sent)
		}
		p.abandon(3)
	}
	p.run(set)
	p.delivered(n, n)
	p.cluster.ReadAll(t, schemas.TopicRedriven, n)
}

// abandon writes the last n dead letters, whose turn has not come yet, with their
// marks, and dies before the commit.
func (p *plant) abandon(n int) {
	p.t.Helper()
	writer, err := open(p.t.Context(), p.Kafka)
	if err != nil {
		p.t.Fatal(err)
	}
	defer writer.Close()
	view, err := deadletters.Open(p.t.Context(), p.Log, deadletters.Selection{})
	if err != nil {
		p.t.Fatal(err)
	}
	var parcels []parcel
	err = view.Each(p.t.Context(), func(l *deadletters.Letter) error {
		each, packErr := pack(l, l.Record, schemas.DeliverTopic(l.Headers.Destination), false, time.Now())
		parcels = append(parcels, each)
		return packErr
	})
	if err != nil {
		p.t.Fatal(err)
	}
	if err := writer.Client().BeginTransaction(); err != nil {
		p.t.Fatal(err)
	}
	if err := writer.Client().ProduceSync(p.t.Context(), recordsOf(parcels[len(parcels)-n:])...).FirstErr(); err != nil {
		p.t.Fatal(err)
	}
}

// TestASecondRunFencesTheFirst, and sends the rest.
func TestASecondRunFencesTheFirst(t *testing.T) {
	t.Parallel()
	const n = 60
	p := newPlant(t, testkit.Brokers(t), n)
	slow := p.settings()
	slow.Rate = 50
	second := make(chan error, 1)
	p.after(10, func() { second <- Run(t.Context(), p.settings()) })
	slow.Out = &testkit.Logs{}
	if err := Run(t.Context(), slow); !errors.Is(err, errFenced) || !strings.Contains(err.Error(), "another redrive") {
		t.Errorf("the first run ended with %v, want that another took over", err)
	}
	if err := <-second; err != nil {
		t.Errorf("the second run: %v", err)
	}
	p.delivered(n, n)
}
