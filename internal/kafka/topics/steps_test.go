package topics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// many are the topics of n destinations.
func many(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = schemas.DeliverTopic(fmt.Sprintf("d%03d", i))
	}
	return names
}

// TestEnsureInSteps is interrupted in the midst and carries on, and each topic gets
// the partitions that suit the number of all.
func TestEnsureInSteps(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	var requests []int // topics of each
	c.Fake.ControlKey(int16(kmsg.CreateTopics), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.Fake.KeepControl()
		requests = append(requests, len(req.(*kmsg.CreateTopicsRequest).Topics))
		return nil, nil, false
	})
	topics := New(c.Client(t, kgo.MetadataMinAge(10*time.Millisecond)), policy.Config{Partitions: 1, Replication: -1})
	names := many(350)

	type report struct{ Done, Total int }
	var told []report
	ctx, interrupt := context.WithCancelCause(t.Context())
	enough := errors.New("somebody pressed Ctrl-C")
	err := topics.EnsureInSteps(ctx, func(done, total int) {
		told = append(told, report{done, total})
		if done == 200 {
			interrupt(enough)
		}
	}, names...)
	if err == nil {
		t.Fatal("interrupted, it goes on")
	}
	if diff := cmp.Diff([]report{{0, 350}, {100, 350}, {200, 350}}, told); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	told, requests = nil, nil
	if err := topics.EnsureInSteps(t.Context(), func(done, total int) { told = append(told, report{done, total}) }, names...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]report{{0, 150}, {100, 150}, {150, 150}}, told); diff != "" || !slices.Equal(requests, []int{100, 50}) {
		t.Errorf("created %v, progress (-want +got):\n%s", requests, diff)
	}
	if n, err := topics.Partitions(t.Context(), names...); err != nil || n != len(names) {
		t.Errorf("%d topics have %d partitions (%v), expected 1 each", len(names), n, err)
	}
}

// TestAFewTopicsAreNoProgress, nor is nothing.
func TestAFewTopicsAreNoProgress(t *testing.T) {
	t.Parallel()
	topics := New(testkit.Brokers(t).Client(t), topicConfig)
	for range 2 {
		err := topics.EnsureInSteps(t.Context(), func(int, int) { t.Error("progress of a few") }, many(5)...)
		if err != nil {
			t.Error(err)
		}
	}
}

func TestAbridged(t *testing.T) {
	t.Parallel()
	if got := abridged(many(3)); got != "deliver.d000, deliver.d001, deliver.d002" {
		t.Errorf("a few are %q", got)
	}
	if got := abridged(many(100)); got != "deliver.d000 to deliver.d099 (100 topics)" {
		t.Errorf("many are %q", got)
	}
}
