package regulate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestAffected(t *testing.T) {
	t.Parallel()
	s := workspace.NewSnapshot([]workspace.Source{
		{ID: "website", WriteKeyHash: [32]byte{1}, Enabled: true},
		{ID: "app", WriteKeyHash: [32]byte{2}, Enabled: true},
		{ID: "unconnected", WriteKeyHash: [32]byte{3}, Enabled: true},
		{ID: "to-nobody", WriteKeyHash: [32]byte{4}, Enabled: true},
		{ID: "retired", WriteKeyHash: [32]byte{5}},
	}, []workspace.Destination{
		{ID: "crm", Sources: []string{"website", "app", "retired"}, Enabled: true},
		{ID: "mail", Sources: []string{"website"}, Enabled: true},
		{ID: "off", Sources: []string{"to-nobody"}},
	})
	if diff := cmp.Diff([]string{"app", "website"}, affected(s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAffectedWhereUsersAreKnown: as soon as there is an audience or a computed trait, even
// one that is disabled, personas is asked to tell who has seen the user.
func TestAffectedWhereUsersAreKnown(t *testing.T) {
	t.Parallel()
	d := workspace.Document{
		Sources:      []workspace.Source{{ID: "website", WriteKeyHash: [32]byte{1}, Enabled: true}},
		Destinations: []workspace.Destination{{ID: "crm", Sources: []string{"website"}, Enabled: true}},
		Audiences:    []workspace.Audience{{Audience: definition.Audience{Common: definition.Common{ID: "buyers"}}}},
	}
	sources := affected(d.Snapshot())
	r := regulation.New(regulation.DeleteOnly, 2, noon)
	r, events := step(r, []string{"u1", "u2"}, sources, stepEvents, noon)
	if len(events) != 2 || r.Status != regulation.Finished || r.Notified != 2 || len(statusOf(&r).Data.Regulation.StreamStatus) > 0 {
		t.Fatalf("%d events, %+v", len(events), r)
	}
	for i, event := range events {
		user := fmt.Sprintf("u%d", i+1)
		h, err := kafka.HeadersOf(event)
		if err != nil || !regulation.IsOrder(&h) || string(event.Key) != user || regulation.Request(h.MessageID) != r.ID {
			t.Errorf("event of %s: %+v, %v", user, h, err)
		}
		got, err := regulation.Notify(event.Value, "website")
		want := regulation.Notification(r.ID, r.CreatedAt, "website", user)
		if diff := cmp.Diff(string(want.Value), string(got.Value)); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if h, _ = kafka.HeadersOf(got); regulation.IsOrder(&h) {
			t.Error("a notification is an order")
		}
	}
}

func TestNotification(t *testing.T) {
	t.Parallel()
	r := regulation.New(regulation.DeleteOnly, 1, noon.Add(1500*time.Microsecond))
	for _, id := range []string{"u1", "a\"<\u2028\n", strings.Repeat("x", regulation.MaxSubjectBytes)} {
		record := regulation.Notification(r.ID, r.CreatedAt, "website", id)
		h, err := kafka.HeadersOf(record)
		if err != nil {
			t.Fatal(err)
		}
		want := schemas.Headers{Source: "website", Type: schemas.TypeDelete, MessageID: h.MessageID, Origin: schemas.OriginDeletion}
		if diff := cmp.Diff(want, h); diff != "" {
			t.Errorf("headers (-want +got):\n%s", diff)
		}
		var o stablejson.Object
		if err := o.Parse(record.Value); err != nil {
			t.Fatal(err)
		}
		userID, _ := stablejson.Text(o.Get("userId"))
		if userID != id || string(record.Key) != id || o.Len() != 4 {
			t.Errorf("%.20q became %.200s under the key %.20q", id, record.Value, record.Key)
		}
		if got := string(o.Get("timestamp")); got != `"2026-11-21T12:00:00.001Z"` {
			t.Errorf("timestamp %s", got)
		}
		if got := string(o.Get("messageId")); got != `"`+h.MessageID+`"` || len(h.MessageID) > schemas.MaxMessageIDChars {
			t.Errorf("messageId %s", got)
		}
		if stable, err := stablejson.Append(nil, record.Value); err != nil || string(stable) != string(record.Value) {
			t.Errorf("%.200s is not in stable form", record.Value)
		}
	}
}

// TestMessageIDs differ for all that is to be told apart, and only for that.
func TestMessageIDs(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	one, other := regulation.New(regulation.DeleteOnly, 1, noon), regulation.New(regulation.DeleteOnly, 1, noon)
	for _, r := range []regulation.Regulation{one, other} {
		for _, pair := range [][2]string{{"a", "bc"}, {"ab", "c"}, {"a", "b"}} {
			h, err := kafka.HeadersOf(regulation.Notification(r.ID, r.CreatedAt, pair[0], pair[1]))
			if err != nil || seen[h.MessageID] {
				t.Errorf("%v: %s, %v", pair, h.MessageID, err)
			}
			seen[h.MessageID] = true
			if again, _ := kafka.HeadersOf(regulation.Notification(r.ID, r.CreatedAt, pair[0], pair[1])); again.MessageID != h.MessageID {
				t.Errorf("%v: made again it is %s", pair, again.MessageID)
			}
		}
	}
}

// TestSteps carries regulations of many shapes to their end: each pair of source
// and user is notified once, no step is large, and each gets on.
func TestSteps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ users, sources, bytes int }{
		{1, 1, 1}, {5000, 1, 5}, {5000, 3, 5}, {100, 40, 5}, {3, 2500, 5}, {7, 0, 5}, {200, 1, 32000}, {1000, 1, 5}, {1001, 1, 5},
	} {
		users, sources := make([]string, c.users), make([]string, c.sources)
		for i := range users {
			users[i] = strings.Repeat("x", c.bytes) + strconv.Itoa(i)
		}
		for i := range sources {
			sources[i] = fmt.Sprintf("s%d", i)
		}
		r := regulation.New(regulation.DeleteOnly, c.users, noon)
		seen := make(map[string]bool)
		for steps := 0; !r.Status.Final(); steps++ {
			if steps > c.users {
				t.Fatalf("%+v: no end", c)
			}
			next, events := step(r, users, sources, stepEvents, noon.Add(time.Hour))
			if next.Notified <= r.Notified || len(events) > stepEvents+c.sources {
				t.Fatalf("%+v: from %d to %d with %d events", c, r.Notified, next.Notified, len(events))
			}
			for _, e := range events {
				h, _ := kafka.HeadersOf(e)
				seen[h.Source+" "+string(e.Key)] = true
			}
			r = next
			// What has become of the workspace in between changes nothing.
			sources = slices.Clone(sources)
			slices.Reverse(sources)
		}
		if len(seen) != c.users*c.sources || r.Status != regulation.Finished || !r.FinishedAt.Equal(noon.Add(time.Hour)) {
			t.Errorf("%+v: %d notifications, %+v", c, len(seen), r)
		}
	}
}
