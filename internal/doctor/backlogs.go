package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
)

// backlogFacts is what a stage has not read, next to what is kept for it.
type backlogFacts struct {
	kafka.Backlog

	stage string
	// copied is whether the stage has its place from a copy of its offsets, which the
	// brokers keep, or has no place to lose yet.
	copied bool
}

// lookAtBacklogs looks at the topics that each stage reads, of those expected.
func lookAtBacklogs(ctx context.Context, topics *kafka.Topics, stages []Stage, expected []string) ([]backlogFacts, error) {
	var all []backlogFacts
	for _, s := range stages {
		found, err := topics.Backlogs(ctx, s.Group, readBy(s.Name, expected)...)
		if err != nil {
			return all, err
		}
		copied, err := s.copied(ctx, topics)
		if err != nil {
			return all, err
		}
		for _, b := range found {
			all = append(all, backlogFacts{b, s.Name, copied})
		}
	}
	return all, nil
}

// copied reports whether the offsets that a stage has committed on raw-events are
// copied to the group which keeps them. The copy comes with the first of them.
func (s Stage) copied(ctx context.Context, topics *kafka.Topics) (bool, error) {
	if s.Copy == "" {
		return false, nil
	}
	kept, err := topics.Commits(ctx, s.Copy, schemas.TopicRawEvents)
	switch {
	case errors.Is(err, kerr.GroupAuthorizationFailed):
		return false, nil // a stage with the same rights can't write it either
	case err != nil || len(kept) > 0:
		return err == nil, err
	}
	own, err := topics.Commits(ctx, s.Group, schemas.TopicRawEvents)
	return err == nil && len(own) == 0, err
}

// readBy are those topics that a stage reads: the router the calls, the sink the rest.
func readBy(stage string, topics []string) []string {
	return slices.DeleteFunc(slices.Clone(topics), func(topic string) bool {
		_, deliver := schemas.DestinationOf(topic)
		_, retry := schemas.RetryDelayOf(topic)
		if stage == "router" {
			return topic != schemas.TopicRawEvents
		}
		return !deliver && !retry
	})
}

// judgeRetention judges whether brokers delete what stages still need. The embedded
// broker has bounds in bytes of its own, which spare what is not routed.
func judgeRetention(backlogs []backlogFacts, embedded bool) []Finding {
	f := &findings{check: CheckRetention}
	for i := range backlogs {
		b := &backlogs[i]
		keep := "raise retention.ms of the topic at once (docs/operations.md has the order of steps), then see why " + b.stage + " is behind"
		switch {
		case b.Deleted > 0:
			f.problem(b.Topic, terminal.Count(b.Deleted)+" events were deleted before "+b.stage+" had read them", keep)
		case b.Aging > 0:
			f.problem(b.Topic, fmt.Sprintf("%s events that %s has not read are older than three quarters of the %s for which the topic keeps them", terminal.Count(b.Aging), b.stage, terminal.Brief(b.Kept)), keep)
		case b.Bytes > 0 && b.Waiting > b.Held/2 && b.Waiting > fewWaiting && !embedded:
			f.warn(b.Topic, fmt.Sprintf("%s has not read %s of the %s events there, and each partition keeps %s, read or not", b.stage, terminal.Count(b.Waiting), terminal.Count(b.Held), mebibytes(b.Bytes)),
				"raise retention.bytes of the topic, or see why "+b.stage+" is behind")
		}
	}
	return f.otherwise("what waits is younger than three quarters of the time for which it is kept")
}

// fewWaiting are read within moments.
const fewWaiting = 10_000

// judgeOffsets judges whether a stage that is stopped for long still finds its place:
// brokers delete the offsets of a group without members. A sink then begins at the
// first event that its topics hold; a router goes on at the copy of its offsets, and
// without one waits for ROUTER_START.
func judgeOffsets(kept time.Duration, backlogs []backlogFacts) []Finding {
	const setting = "offsets.retention.minutes"
	f := &findings{check: CheckOffsets}
	if kept == 0 {
		f.ok("", "how long the brokers keep the offsets of a group without members is not known ("+setting+"; DescribeConfigs on the cluster shows it)")
		return f.all
	}
	for _, b := range longestKept(backlogs) {
		if b.copied || !outlasts(b.Kept, kept) {
			continue
		}
		stake, do := "would deliver again what it had finished", ""
		if b.stage == "router" {
			stake, do = "would wait for ROUTER_START, since no copy of its offsets was found", "; a router that may use the group of the copy writes one within seconds (docs/brokers.md)"
		}
		f.warn(setting, fmt.Sprintf("the brokers delete the offsets of a stopped %s after %s, but %s keeps events for %s: after a longer stop it %s", b.stage, terminal.Brief(kept), b.Topic, duration(b.Kept), stake),
			"raise "+setting+" on the brokers above the retention of that topic"+do)
	}
	return f.otherwise("a stage that was stopped finds its place again for as long as its events are kept")
}

// longestKept returns, for each stage, the topic that keeps its events longest.
func longestKept(backlogs []backlogFacts) []*backlogFacts {
	var all []*backlogFacts
	for i := range backlogs {
		b := &backlogs[i]
		at := slices.IndexFunc(all, func(l *backlogFacts) bool { return l.stage == b.stage })
		switch {
		case at < 0:
			all = append(all, b)
		case outlasts(b.Kept, all[at].Kept):
			all[at] = b
		}
	}
	return all
}

// outlasts compares times for which something is kept; 0 is for ever.
func outlasts(a, b time.Duration) bool { return b != 0 && (a == 0 || a > b) }

func duration(kept time.Duration) string {
	if kept == 0 {
		return "ever"
	}
	return terminal.Brief(kept)
}
