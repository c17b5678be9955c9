package messagetrace

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// TestPrint tells a life in the order of time: pauses are put together, a dead letter
// follows on its attempt though it was written before that had ended.
func TestPrint(t *testing.T) {
	t.Parallel()
	held := func(at int, o journal.Outcome) try {
		a := attempt(at, 1, o, "").again()
		a.Endpoints, a.Offset = 0, int64(at)
		return a
	}
	ended := attempt(70, 2, journal.Dead, schemas.ReasonStatus4xx)
	letter := died(69, "crm", schemas.ReasonStatus4xx, 80)
	letter.Detail = "endpoint answered 410"
	f := routed().with(
		attempt(2, 1, journal.Retried, schemas.ReasonTimeout).again(),
		held(10, journal.Withheld), held(20, journal.Withheld), held(30, journal.Deferred),
		ended,
	).buried(letter)
	f.routing.Decisions = append(f.routing.Decisions,
		journal.Decision{Destination: "erp", Result: journal.Filtered, Why: "Webhooks"},
		journal.Decision{Destination: "mail", Result: journal.Filtered, Why: journal.WhyOnly})
	f.call = Call{
		Source: "web", Type: schemas.TypeTrack, Event: "Signed\u202eUp", User: "u1", Bytes: 1204, ReceivedAt: noon,
		ClientAddress: "203.0.113.9", Record: "raw-events[3]@7", Violations: []Violation{{"properties.plan", "found a number, expected a string"}},
	}
	trace := &Trace{MessageID: "m-1", Calls: []Call{f.assemble(fixed{after(75)})}, Suppressed: true, Deleting: []string{"r1"}}
	var got bytes.Buffer
	if err := Print(&got, trace); err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(`
m-1: track "Signed\u202eUp" from source web, user u1
  2026-11-22 12:00:00.000Z  taken by ingest, 1,204 bytes, from 203.0.113.9, raw-events[3]@7
  violates the tracking plan: properties.plan: found a number, expected a string
  2026-11-22 12:00:01.000Z  routed
  crm: waiting for the webhook sink on deliver.crm
    2026-11-22 12:00:02.000Z  attempt 1: a.example.com failed with timeout after 48 ms; again at 2026-11-22 12:01:00.000Z
    2026-11-22 12:00:30.000Z  put off, there was no free slot, it was not due or deliveries were paused, 3 times; again at 2026-11-22 12:01:00.000Z
    2026-11-22 12:01:10.000Z  attempt 2: a.example.com failed with status_4xx after 48 ms
    2026-11-22 12:01:09.000Z  dead letter 3-17: endpoint answered 410
    2026-11-22 12:01:20.000Z  redriven
    note: the destination was changed since, its endpoints may be others now
  erp: filtered by "Webhooks" in the call's integrations map
  mail: filtered: the definition of the audience or trait, or the import, names other destinations
note: the user is suppressed: calls of this user are dropped from the time of the request on, and answered with 200
note: deletion request r1, which names this user, is being carried out
`, "\n")
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
