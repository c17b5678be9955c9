package messagetrace_test

import (
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/messagetrace"
)

// TestStored finds the record of a call by its messageId, and one of the user where that is
// known; a time before which there was none has none.
func TestStored(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	p.call("u1", "m1")
	want := p.call("u2", "m2")
	p.call("u3", "m3")
	for name, test := range map[string]struct {
		id, user string
		since    time.Duration
		found    bool
	}{
		"by its id":          {"m2", "", time.Hour, true},
		"with its user":      {"m2", "u2", time.Hour, true},
		"of another user":    {"m2", "u1", time.Hour, false},
		"of nobody":          {"m4", "", time.Hour, false},
		"part of another id": {"m", "", time.Hour, false},
		"of another time":    {"m2", "", -30 * time.Minute, false},
	} {
		q := messagetrace.Query{MessageID: test.id, User: test.user, Since: time.Now().Add(-test.since), Until: time.Now().Add(time.Hour)}
		call, searched, err := messagetrace.Stored(t.Context(), p.log, q)
		if err != nil {
			t.Fatal(err)
		}
		if (call != nil) != test.found || test.found && (call.Partition != want.Partition || call.Offset != want.Offset || string(call.Value) != string(want.Value)) {
			t.Errorf("%s: found %v, want it %t", name, call, test.found)
		}
		if test.since > 0 && searched.Records == 0 {
			t.Errorf("%s: searched %+v", name, searched)
		}
	}
}
