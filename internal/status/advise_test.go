package status

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// routing is what a router has not read.
func routing(waiting Backlog) []Unread {
	return []Unread{{Topic: schemas.TopicRawEvents, Waiting: waiting, Pending: []int32{}, verb: pipeline.Verb{To: "route", Done: "routed"}}}
}

// healthy is a report about which there is nothing to say.
func healthy() *Report {
	member := []Member{{ID: "m", Host: "10.0.0.4", Partitions: map[string]int{"raw-events": 6}}}
	return &Report{
		At:           noon,
		Stages:       []Stage{{Name: "router", State: "Stable", Members: member, Unread: routing(Backlog{Bound: Exact})}, {Name: "webhook-sink", State: "Stable", Members: member}},
		Destinations: []Destination{{ID: "crm", State: Enabled, Undelivered: Backlog{Bound: Exact}, Retrying: Backlog{Bound: Exact}}},
		DeadLetters:  DeadLetters{Bound: Exact},
	}
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	at := func(ago time.Duration) *time.Time { return new(noon.Add(-ago)) }
	for name, c := range map[string]struct {
		change      func(*Report)
		about       string
		problem, do string // parts; empty: there is nothing to say
	}{
		"nothing":                      {change: func(*Report) {}},
		"a replay goes on":             {change: func(r *Report) { r.Replays = []Replay{{ID: "a", State: "running", Heard: noon}} }},
		"a replay is paused":           {change: func(r *Report) { r.Replays = []Replay{{ID: "a", State: "paused", Heard: noon.Add(-time.Hour)}} }},
		"a replay waits for a router":  {func(r *Report) { r.Replays = []Replay{{ID: "a", State: "waiting", Heard: noon.Add(-time.Hour)}} }, "replay a", "no router has taken it up for 1h", "start a router"},
		"nothing is heard of a replay": {func(r *Report) { r.Replays = []Replay{{ID: "a", State: "running", Heard: noon.Add(-time.Hour)}} }, "replay a", "nothing was heard of it for 1h", "the logs of the routers"},
		"a replay waits for a destination": {func(r *Report) {
			r.Replays = []Replay{{ID: "a", State: "running", Heard: noon, Trouble: map[string]string{"crm": "waits"}}}
		}, "replay a", "crm waits", "`anabranch replay show a`"},
		"an import goes on":             {change: func(r *Report) { r.Imports = []Import{{Files: "a.csv", Heard: noon.Add(-time.Minute)}} }},
		"an import is done":             {change: func(r *Report) { r.Imports = []Import{{Files: "a.csv", Done: true, Heard: noon.Add(-time.Hour)}} }},
		"nobody goes on with an import": {func(r *Report) { r.Imports = []Import{{Files: "a.csv", Rows: 4000, Heard: noon.Add(-time.Hour)}} }, "import a.csv", "nothing was heard of it for 1h, with 4,000 rows in", "`anabranch import start` with the same files"},
		"a little waits":                {change: func(r *Report) { r.Stages[0].Unread[0].Waiting = Backlog{5, Exact, at(time.Second)} }},
		"a call waits":                  {func(r *Report) { r.Stages[0].Unread[0].Waiting = Backlog{1, Exact, at(time.Minute)} }, "raw-events", "1 event to route, the oldest for 1m", "start more"},
		"a call waits for a transaction": {func(r *Report) {
			u := &r.Stages[0].Unread[0]
			u.Waiting, u.Pending = Backlog{1, Exact, at(time.Minute)}, []int32{1, 4}
		}, "raw-events", "partitions [1 4] wait for the end of a transaction", "`anabranch doctor`"},
		"a transaction is open": {change: func(r *Report) { r.Stages[0].Unread[0].Pending = []int32{1} }},
		"no sink":               {func(r *Report) { r.Stages[1].Members = nil }, "webhook-sink", "no process", "start `anabranch webhook-sink`"},
		"rebalancing":           {func(r *Report) { r.Stages[0].State = "PreparingRebalance" }, "router", "PreparingRebalance", "check again in 15s"},
		"one too many":          {func(r *Report) { r.Stages[0].Members = []Member{{Instance: "router-b", Host: "h"}} }, "router", "router-b on h has no partitions", "spare"},
		"slow":                  {func(r *Report) { r.Destinations[0].Undelivered = Backlog{9, AtMost, at(time.Hour)} }, "crm", "at most 9 events wait, the oldest for 1h", "WEBHOOK_SINK_MAX_IN_FLIGHT"},
		"removed": {func(r *Report) {
			r.Destinations[0] = Destination{ID: "crm", State: Removed, Undelivered: Backlog{9, Exact, at(0)}}
		}, "crm", "not in the workspace", "destination_removed"},
		"an archive is removed": {func(r *Report) {
			r.Destinations[0] = Destination{ID: "cold", Type: workspace.TypeArchive, State: Removed, Undelivered: Backlog{9, Exact, at(0)}}
		}, "cold", "9 events wait of an archive that is not in the workspace", "they stay on deliver.archive.cold until retention takes them"},
		"removed, empty": {change: func(r *Report) {
			r.Destinations[0] = Destination{ID: "crm", State: Removed, Undelivered: Backlog{0, Exact, nil}}
		}},
		"switched off": {func(r *Report) {
			r.Destinations[0] = Destination{ID: "crm", State: Disabled, Retrying: Backlog{1, Exact, at(0)}}
		}, "crm", "1 event waits of a destination that is switched off", "destination_disabled"},
		"paused": {func(r *Report) {
			r.Destinations[0] = Destination{ID: "crm", State: OnPause, Undelivered: Backlog{2, Exact, at(time.Hour)}, Retrying: Backlog{Bound: Exact}, Paused: &Paused{"ada", noon.Add(-time.Hour)}}
		}, "crm", "deliveries are paused since 2026-11-21 11:00:00Z by ada: 2 events wait", "`anabranch destinations resume crm`"},
		"held back":        {func(r *Report) { r.Destinations[0].Retrying = Backlog{2, Exact, at(0)}; r.Destinations[0].Withheld = 2 }, "crm", "2 events wait, 2 of them held back", "find out why"},
		"deleted":          {func(r *Report) { r.Destinations[0].Deleted = 1_000 }, "crm", "retention deleted up to 1,000 events", "retention.ms of deliver.crm"},
		"deleted unrouted": {func(r *Report) { r.Stages[0].Unread[0].Deleted = 1_000 }, "raw-events", "retention deleted up to 1,000 events before they were routed", "RAW_EVENTS_RETENTION"},
		"deleted retries":  {func(r *Report) { r.Retries = []Retry{{Delay: "8m", Deleted: 7}} }, "webhook-retry.8m", "retention deleted up to 7 events", "retention.ms of webhook-retry.8m"},
		"late retries":     {func(r *Report) { r.Retries = []Retry{{Delay: "5s", Overdue: 1}, {Delay: "8m", Overdue: 1}} }, "retries", "2 events due", "more sinks"},
		"dead, unreadable": {func(r *Report) { r.DeadLetters.Groups = []DeadGroup{{Events: 4}} }, "dead-letters", "4 events in dead-letters can't be read", "list"},
		"dead, blocked": {func(r *Report) {
			r.DeadLetters.Groups = []DeadGroup{{Reason: schemas.ReasonPlanViolation, Events: 4, Last: noon.Add(-24 * time.Hour)}}
		}, "dead-letters", "plan_violation, the last at 2026-11-20 12:00:00Z", "redrive --reason plan_violation`"},
		"all redriven": {change: func(r *Report) {
			r.DeadLetters.Groups = []DeadGroup{{Reason: schemas.ReasonTLS, Events: 4, Redriven: 4}}
		}},
		"cut": {func(r *Report) { r.Incomplete = []string{"dead-letters"} }, "this report", "dead-letters could not be read to the end", "/metrics"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := healthy()
			c.change(r)
			got := Advise(r, 4*time.Hour)
			if c.problem == "" {
				if len(got) > 0 {
					t.Errorf("there is something to say: %+v", got)
				}
				return
			}
			if len(got) != 1 || got[0].About != c.about || !strings.Contains(got[0].Problem, c.problem) || !strings.Contains(got[0].Do, c.do) {
				t.Errorf("advice %+v, want one about %s with %q and %q in it", got, c.about, c.problem, c.do)
			}
		})
	}
}

// Where there is no remedy of its own, the detail says what it was.
func TestEveryReasonHasARemedy(t *testing.T) {
	t.Parallel()
	general := []schemas.Reason{schemas.ReasonWindowExceeded, schemas.ReasonRecordInvalid}
	for _, reason := range schemas.Reasons() {
		if remedyOf(reason) == remedyOf("") && !slices.Contains(general, reason) {
			t.Errorf("%s has no remedy", reason)
		}
	}
}

func TestTopicsAreNamed(t *testing.T) {
	t.Parallel()
	if got := some([]string{"a", "b", "c"}); got != "a, b, c" {
		t.Errorf("three: %s", got)
	}
	if got := some([]string{"a", "b", "c", "d", "e"}); got != "a, b, c and 2 more topics" {
		t.Errorf("five: %s", got)
	}
}
