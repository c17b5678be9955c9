package status

import (
	"bytes"
	"errors"
	"flag"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/audit"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

var update = flag.Bool("update", false, "write what is printed to testdata")

// sample is a report with something in each of its parts.
func sample() *Report {
	ago := func(d time.Duration) *time.Time { return new(noon.Add(-d)) }
	unrouted := Backlog{Events: 1_204, Bound: Exact, Oldest: ago(95 * time.Second)}
	r := &Report{
		At: noon, Brokers: []string{"kafka-1:9092", "kafka-2:9092"},
		Stages: []Stage{
			{Name: "router", Group: "anabranch-router", Members: []Member{}, Unread: routing(unrouted)},
			{Name: "webhook-sink", Group: "anabranch-webhook-sink", State: "Stable", Unread: []Unread{}, Members: []Member{
				{Instance: "webhook-sink-a", ID: "webhook-sink-a-5b1f", Client: "anabranch", Host: "10.0.0.4", Partitions: map[string]int{"deliver": 12, "webhook-retry": 42}},
				{ID: "anabranch-7c0d", Client: "anabranch", Host: "10.0.0.5", Partitions: map[string]int{}},
			}},
		},
		Unrouted: unrouted,
		Destinations: []Destination{
			{
				ID: "crm", State: Enabled, Undelivered: Backlog{Events: 17, Bound: AtMost, Oldest: ago(2 * time.Minute)}, Retrying: Backlog{Events: 1_187, Bound: AtLeast, Oldest: ago(118 * time.Minute)},
				Withheld: 900, FailingSince: ago(118 * time.Minute),
				Failures:  []Failure{{Reason: schemas.ReasonStatus5xx, Detail: "endpoint answered 503", Events: 1_180}, {Reason: schemas.ReasonTimeout, Detail: "no response within 5s", Events: 7}},
				Endpoints: []Endpoint{{URL: "https://crm.example.com/hooks/events", Events: 1_187}}, Deleted: 3,
				Busy: []BusyPartition{{Partition: 4, Keys: 2, Events: 1_150}}, Replaying: Backlog{Bound: Exact}, ReplayedDeleted: 5,
			},
			{ID: "mail", State: Enabled, Undelivered: Backlog{Bound: Exact}, Retrying: Backlog{Bound: AtLeast}, Failures: []Failure{}, Endpoints: []Endpoint{}, Busy: []BusyPartition{}, Replaying: Backlog{Events: 40_000, Bound: AtMost}},
			{ID: "old", State: Removed, Undelivered: Backlog{Events: 1, Bound: Exact, Oldest: ago(time.Second)}, Retrying: Backlog{Bound: Exact}, Failures: []Failure{}, Endpoints: []Endpoint{}, Busy: []BusyPartition{}, Replaying: Backlog{Bound: Exact}},
		},
		Retries: []Retry{
			{Delay: "5s", Waiting: Backlog{Bound: Exact}},
			{Delay: "8m", Waiting: Backlog{Events: 1_250, Bound: AtMost, Oldest: ago(118 * time.Minute)}, Overdue: 40},
		},
		DeadLetters: DeadLetters{Since: noon.Add(-24 * time.Hour), Bound: Exact, Groups: []DeadGroup{
			{Destination: "mail", Reason: schemas.ReasonStatus4xx, Events: 12, Redriven: 2, First: noon.Add(-20 * time.Hour), Last: noon.Add(-time.Hour), Detail: "endpoint answered \x1b[2J 410"},
		}},
		Incomplete: []string{"webhook-retry.8m"}, UnroutedPending: []int32{},
		LastHour: &audit.Glance{
			From: noon.Add(-time.Hour), To: noon.Add(-10 * time.Second), Accepted: 120_400, Delivered: 118_000, Filtered: 1_090, Duplicate: 20, Dead: 12,
			OnTheWay: 1_278, Missing: 3, Complete: true,
		},
	}
	r.Replays = []Replay{
		{ID: "20261123-031258-6bbuom", State: "running", Read: 170, Total: 1000, Sent: 150, Heard: noon.Add(-2 * time.Second), Remaining: new(int64(95)), Trouble: map[string]string{"mail": "waits for the destination: 1,000 events of replays are not delivered yet"}},
		{ID: "20261123-031301-aaaaaa", State: "waiting", Total: 10, Heard: noon.Add(-time.Minute), Trouble: map[string]string{}},
	}
	r.Imports = []Import{
		{Files: "calls.ndjson.gz", Source: "website", Rows: 1_200_000, Refused: 7, Done: true, Started: noon.Add(-3 * time.Hour), Heard: noon.Add(-2 * time.Hour)},
		{Files: "old.csv", Source: "shop", Rows: 40_000, Started: noon.Add(-time.Hour), Heard: noon.Add(-40 * time.Minute)},
		{Files: "new.csv", Source: "shop", Rows: 500, Started: noon.Add(-time.Minute), Heard: noon.Add(-time.Second)},
	}
	r.Advice = Advise(r, 4*time.Hour)
	return r
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := Table(&out, sample()); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/report.txt", out.Bytes(), *update)
}

// Programs read the names and kinds of the members: to change the file is to break
// them.
func TestJSONStaysAsItIs(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := JSON(&out, sample()); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/report.json", out.Bytes(), *update)
}

func TestTableOfNothing(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := Table(&out, &Report{At: noon, Brokers: []string{"here:9092"}, Stages: []Stage{{Name: "router", Unread: routing(Backlog{Bound: Exact})}}}); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/nothing.txt", out.Bytes(), *update)
}

// Of many destinations a person is shown those that matter.
func TestTableOfMany(t *testing.T) {
	t.Parallel()
	r := &Report{At: noon, Unrouted: Backlog{Bound: Exact}, DeadLetters: DeadLetters{Bound: Exact, Groups: []DeadGroup{{Destination: "d7", Events: 1}}}}
	for i := range 1_000 {
		r.Destinations = append(r.Destinations, Destination{ID: "d" + strconv.Itoa(i), State: Enabled})
		r.Advice = append(r.Advice, Advice{About: "a" + strconv.Itoa(i)})
	}
	r.Destinations[500].Retrying.Events = 1
	r.Destinations[600].State = Disabled
	var out bytes.Buffer
	if err := Table(&out, r); err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]bool{"d7 ": true, "d500": true, "d600": true, "d8 ": false, "997 more destinations": true, "a39:": true, "a40:": false, "and 960 more": true} {
		if strings.Contains(out.String(), part) != want {
			t.Errorf("%q is in the table: %t, want %t", part, !want, want)
		}
	}
}

func TestWhatCannotBePrinted(t *testing.T) {
	t.Parallel()
	closed := errors.New("closed")
	if err := Table(shut{closed}, sample()); !errors.Is(err, closed) {
		t.Errorf("Table = %v", err)
	}
	if err := JSON(shut{closed}, sample()); !errors.Is(err, closed) {
		t.Errorf("JSON = %v", err)
	}
}

type shut struct{ err error }

func (f shut) Write([]byte) (int, error) { return 0, f.err }
