package work

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

// TestFailedWritesAreLoggedSeldom: while no broker answers, every worker has one
// several times a second.
func TestFailedWritesAreLoggedSeldom(t *testing.T) {
	t.Parallel()
	out := new(testkit.Logs)
	w := New(Options{Logger: out.Logger()})
	f := schedule.Fate{Headers: schemas.Headers{Destination: "crm", MessageID: "m-1", TraceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}
	for range 1000 {
		w.writeFailed(&kgo.Record{Topic: "dead-letters"}, &f, errors.New("no brokers"))
	}
	if n := out.Count("write failed"); n != 1 || out.Count("message_id=m-1") != 1 || out.Count("trace_id=4bf92f3577b34da6a3ce929d0e0e4736") != 1 {
		t.Errorf("%d lines for a thousand writes:\n%s", n, out)
	}
}

// TestWhatIsTooLargeEnds: whichever of its codes the broker uses, a retry ends as a dead
// letter, and that as one that only says where the value stands.
func TestWhatIsTooLargeEnds(t *testing.T) {
	t.Parallel()
	for _, refusal := range []*kerr.Error{kerr.MessageTooLarge, kerr.RecordListTooLarge} {
		var written []string
		w := New(Options{
			Logger: slog.New(slog.DiscardHandler),
			Write: func(_ context.Context, r *kgo.Record) error {
				written = append(written, r.Topic)
				if len(written) < 3 {
					return fmt.Errorf("produce: %w", refusal)
				}
				return nil
			},
			WriteFailed: func() { t.Errorf("%s is taken for a failure that passes", refusal.Message) },
		})
		j := dispatch.NewJob(&kgo.Record{Topic: "deliver.crm", Offset: 7, Value: []byte("{}")})
		f, settled := w.settle(t.Context(), j, schedule.Fate{Ending: schedule.Retried, Topic: "webhook-retry.5s", Headers: schemas.Headers{Destination: "crm"}})
		want := []string{"webhook-retry.5s", schemas.TopicDeadLetters, schemas.TopicDeadLetters}
		if !settled || f.Ending != schedule.Dead || !f.Headers.Reference || f.Headers.Reason != schemas.ReasonRecordTooLarge || !slices.Equal(written, want) {
			t.Errorf("%s: settled %t with %+v, written to %v", refusal.Message, settled, f, written)
		}
	}
}
