package work

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

// TestFailedWritesAreLoggedSeldom: while no broker answers, every worker has one
// several times a second.
func TestFailedWritesAreLoggedSeldom(t *testing.T) {
	t.Parallel()
	out := new(testkit.Logs)
	w := &Worker{Logger: out.Logger()}
	f := schedule.Fate{Headers: schemas.Headers{Destination: "crm", MessageID: "m-1", TraceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}
	for range 1000 {
		w.writeFailed(&kgo.Record{Topic: "dead-letters"}, &f, errors.New("no brokers"))
	}
	if n := out.Count("write failed"); n != 1 || out.Count("message_id=m-1") != 1 || out.Count("trace_id=4bf92f3577b34da6a3ce929d0e0e4736") != 1 {
		t.Errorf("%d lines for a thousand writes:\n%s", n, out)
	}
}
