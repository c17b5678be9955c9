package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
)

// backlogFacts is what a stage has not read, next to what is kept for it.
type backlogFacts struct {
	groups.Backlog

	stage *pipeline.Stage
	// copied is whether the stage has its place from a copy of its offsets, which the
	// brokers keep, or has no place to lose yet.
	copied bool
}

// lookAtBacklogs looks at the topics that each stage reads, of those expected.
func lookAtBacklogs(ctx context.Context, admin *topics.Admin, stages pipeline.Stages, expected []string) ([]backlogFacts, error) {
	var all []backlogFacts
	for _, s := range stages {
		found, err := groups.Backlogs(ctx, admin.Client, s.Group.Name, s.Consumed(expected)...)
		if err != nil {
			return all, err
		}
		copied, err := copied(ctx, admin, s.Group)
		if err != nil {
			return all, err
		}
		for _, b := range found {
			all = append(all, backlogFacts{b, s, copied})
		}
	}
	return all, nil
}

// copied reports whether the offsets that a group has committed on raw-events are
// copied to the one which keeps them. The copy comes with the first of them.
func copied(ctx context.Context, admin *topics.Admin, group pipeline.Group) (bool, error) {
	if group.Copy.Group == "" {
		return false, nil
	}
	kept, err := admin.Commits(ctx, group.Copy.Group, schemas.TopicRawEvents)
	switch {
	case errors.Is(err, kerr.GroupAuthorizationFailed):
		return false, nil // a stage with the same rights can't write it either
	case err != nil || len(kept) > 0:
		return err == nil, err
	}
	own, err := admin.Commits(ctx, group.Name, schemas.TopicRawEvents)
	return err == nil && len(own) == 0, err
}

// judgeRetention judges whether brokers delete what stages still need. The embedded
// broker has bounds in bytes of its own, which spare what is not routed.
func judgeRetention(backlogs []backlogFacts, embedded bool) []Finding {
	f := &findings{check: CheckRetention}
	for i := range backlogs {
		b := &backlogs[i]
		keep := "raise retention.ms of the topic at once (docs/operations.md has the order of steps), then see why " + b.stage.Name + " is behind"
		switch {
		case b.Deleted > 0:
			f.problem(b.Topic, terminal.Count(b.Deleted)+" events were deleted before "+b.stage.Name+" had read them", keep)
		case b.Aging > 0:
			f.problem(b.Topic, fmt.Sprintf("%s events that %s has not read are older than three quarters of the %s for which the topic keeps them", terminal.Count(b.Aging), b.stage.Name, terminal.Brief(b.Kept)), keep)
		case b.Bytes > 0 && b.Waiting > b.Held/2 && b.Waiting > fewWaiting && !embedded:
			f.warn(b.Topic, fmt.Sprintf("%s has not read %s of the %s events there, and each partition keeps %s, read or not", b.stage.Name, terminal.Count(b.Waiting), terminal.Count(b.Held), mebibytes(b.Bytes)),
				"raise retention.bytes of the topic, or see why "+b.stage.Name+" is behind")
		}
	}
	return f.otherwise("what is waiting is younger than three quarters of the time for which it is kept")
}

// fewWaiting are read within moments.
const fewWaiting = 10_000

// judgeOffsets judges whether a stage that is stopped for long still finds its place:
// brokers delete the offsets of a group without members. One whose offsets are copied
// goes on at the copy.
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
		do := ""
		if b.stage.Group.Copy.Group != "" {
			do = "; a " + b.stage.Name + " that may use the group of the copy writes one within seconds (docs/brokers.md)"
		}
		f.warn(setting, fmt.Sprintf("the brokers delete the offsets of a stopped %s after %s, but %s keeps events for %s: after a longer stop it %s", b.stage.Name, terminal.Brief(kept), b.Topic, duration(b.Kept), b.stage.Group.Forgotten),
			"raise "+setting+" on the brokers above the retention of that topic"+do)
	}
	return f.otherwise("a stopped stage can find its position again for as long as its events are kept")
}

// longestKept returns, for each stage, the topic that keeps its events longest.
func longestKept(backlogs []backlogFacts) []*backlogFacts {
	var all []*backlogFacts
	for i := range backlogs {
		b := &backlogs[i]
		at := slices.IndexFunc(all, func(l *backlogFacts) bool { return l.stage.Name == b.stage.Name })
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
