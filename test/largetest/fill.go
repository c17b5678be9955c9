package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm" //nolint:depguard // it measures from outside
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

func destination(i int) string { return fmt.Sprintf("customer-%05d", i) }

// user spreads users as ids in use do.
func user(i int) string { return fmt.Sprintf("user-%016x", uint64(i)*0x9e3779b97f4a7c15) }

const bought = "Order Completed"

// fill puts everything into brokers that hold no calls yet.
func (l *lab) fill(ctx context.Context) error {
	ends, err := kadm.NewClient(l.client).ListEndOffsets(ctx, schemas.TopicRawEvents, schemas.TopicDeadLetters)
	if err != nil {
		return err
	}
	held := int64(0)
	ends.Each(func(o kadm.ListedOffset) { held += max(o.Offset, 0) })
	if held > 0 {
		return fmt.Errorf("they hold %d calls and dead letters: start with empty ones, or ask for what is there by -fill=false", held)
	}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"destinations", l.apply}, {"users", l.remember}, {"calls", l.call}, {"dead letters", l.bury}, {"events that wait", l.wait}, {"a replay", l.replay},
	} {
		begun := time.Now()
		if err = step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintf(os.Stderr, "largetest: %s are there after %s\n", step.name, time.Since(begun).Round(time.Second))
	}
	return nil
}

// apply puts a workspace in force as people do. What it says of a destination is short, since a
// workspace file has a mebibyte at most.
func (l *lab) apply(ctx context.Context) error {
	var text strings.Builder
	text.WriteString(`sources: [{id: website, name: Web site, writeKey: wk_website}]
audiences:
  - {id: buyers, name: Buyers, when: {did: Order Completed}}
  - {id: regulars, name: Regulars, when: {did: Order Completed, times: {gte: 5}, within: 30d}}
traits:
  - {id: orders, name: Orders, take: count, did: Order Completed}
destinations:
`)
	for i := range l.destinations {
		sources := "website"
		if i%10 == 0 {
			sources += ", personas"
		}
		fmt.Fprintf(&text, "  - {id: %s, type: webhooks, sources: [%s], endpoints: [{url: https://h.test/%d}]}\n", destination(i), sources, i)
	}
	file := filepath.Join(l.dir, "workspace.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		return err
	}
	// A broker that makes thousands of topics may be too busy for the rest: it is tried once more,
	// as people would.
	if l.command(ctx, "apply", "-f", file) == nil {
		return nil
	}
	return l.command(ctx, "apply", "-f", file)
}

// command runs one that has to succeed.
func (l *lab) command(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, l.program, args...) //nolint:gosec // built by us
	cmd.Env = append(os.Environ(), l.env()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("anabranch %s: %w: %s", strings.Join(args, " "), err, out[max(0, len(out)-2000):])
	}
	return nil
}

// produce writes records, as many as wanted, and returns when the brokers have them.
func (l *lab) produce(ctx context.Context, n int, record func(i int) *kgo.Record) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for i := range n {
		l.client.Produce(ctx, record(i), func(_ *kgo.Record, err error) {
			if err != nil {
				cancel(err)
			}
		})
	}
	return errors.Join(l.client.Flush(ctx), context.Cause(ctx))
}

// order is the call of a user, of about a kilobyte.
func order(i int, at time.Time) *kgo.Record {
	id := fmt.Sprintf("0193f1b2-7c60-7d0a-9d3e-%012x", i)
	value := fmt.Appendf(nil, `{"type":"track","messageId":%q,"userId":%q,"event":%q,"properties":{"total":%d,"category":"hats","url":"https://shop.example.com/orders/%d","text":%q},"timestamp":%q,"context":{"library":{"name":"analytics.js","version":"2.1.0"}}}`,
		id, user(i), bought, i%100, i, strings.Repeat("seven of them ", 45), at.UTC().Format(schemas.TimeLayout))
	rec := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte(user(i)), Value: value, Timestamp: at}
	h := orderHeaders(i, at)
	kafka.SetHeaders(rec, &h)
	return rec
}

func orderHeaders(i int, at time.Time) schemas.Headers {
	return schemas.Headers{Source: "website", Type: schemas.TypeTrack, MessageID: fmt.Sprintf("0193f1b2-7c60-7d0a-9d3e-%012x", i), Origin: schemas.OriginAPI, Received: at}
}

// remember has personas know one user, and gives all others the same past.
func (l *lab) remember(ctx context.Context) error {
	p, err := l.process(ctx, "personas")
	if err != nil {
		return err
	}
	defer p.Discard()
	begun := time.Now().Add(-time.Hour)
	if err = l.produce(ctx, 20, func(i int) *kgo.Record {
		rec := order(0, begun.Add(time.Duration(i)*time.Minute))
		h := orderHeaders(-i-1, rec.Timestamp)
		rec.Headers = nil
		kafka.SetHeaders(rec, &h)
		return rec
	}); err != nil {
		return err
	}
	known, err := l.known(ctx)
	if err != nil {
		return err
	}
	if _, err = p.Stop(); err != nil {
		return err
	}
	return l.produce(ctx, l.users-1, func(i int) *kgo.Record {
		return &kgo.Record{Topic: schemas.TopicPersonasChangelog, Key: []byte(user(i + 1)), Value: known}
	})
}

// known is what personas keeps of the first user, once that is all.
func (l *lab) known(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	reader, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(l.brokers, ",")...), kgo.ConsumeTopics(schemas.TopicPersonasChangelog), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	var known []byte
	for {
		// Nothing more of the user within a while: all of the calls are in.
		quiet, done := context.WithTimeout(ctx, 5*time.Second)
		fetches := reader.PollFetches(quiet)
		done()
		if ctx.Err() != nil {
			return nil, errors.New("personas has written nothing of a user whose calls it read")
		}
		last := known
		fetches.EachRecord(func(r *kgo.Record) {
			if string(r.Key) == user(0) {
				known = slices.Clone(r.Value)
			}
		})
		if known != nil && slices.Equal(last, known) {
			return known, nil
		}
	}
}

func (l *lab) call(ctx context.Context) error {
	begun := time.Now().Add(-time.Hour)
	return l.produce(ctx, l.calls, func(i int) *kgo.Record {
		return order(i, begun.Add(time.Duration(i)*time.Hour/time.Duration(l.calls)))
	})
}

// bury gives up events over twenty hours: half of them at twenty destinations, the others
// everywhere.
func (l *lab) bury(ctx context.Context) error {
	reasons := []schemas.Reason{schemas.ReasonStatus4xx, schemas.ReasonStatus5xx, schemas.ReasonTimeout}
	begun := time.Now().Add(-20 * time.Hour)
	return l.produce(ctx, l.letters, func(i int) *kgo.Record {
		at := begun.Add(time.Duration(i) * 20 * time.Hour / time.Duration(l.letters))
		h := orderHeaders(i, at.Add(-4*time.Hour))
		h.Destination, h.Reason = destination(i/2%l.destinations), reasons[i/7%len(reasons)]
		if i%2 == 0 {
			h.Destination = destination(i / 2 % min(20, l.destinations))
		}
		h.Attempt, h.FirstAttempt, h.Detail, h.Answer = 20, at.Add(-4*time.Hour), "endpoint answered "+strconv.Itoa(400+i%100), []byte("try later")
		dead := kafka.DeadLetter(order(i, at.Add(-4*time.Hour)), h, at)
		dead.Timestamp = at
		return dead
	})
}

// wait puts one event on the topic of each third destination.
func (l *lab) wait(ctx context.Context) error {
	now := time.Now()
	return l.produce(ctx, l.destinations/3, func(i int) *kgo.Record {
		rec := order(i, now)
		rec.Topic = schemas.DeliverTopic(destination(3 * i))
		return rec
	})
}

// replay asks for one to all destinations, which waits for a router.
func (l *lab) replay(ctx context.Context) error {
	return l.command(ctx, "replay", "start", "--from", "1h")
}
