package messagetrace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// fixed are names of destinations that all have two endpoints.
type fixed struct{ changedAt time.Time }

func (fixed) topic(id string) string { return schemas.DeliverTopic(id) }
func (fixed) hosts(string) []string  { return []string{"a.example.com", "b.example.com"} }

func (f fixed) changed(_ string, since time.Time) bool { return f.changedAt.After(since) }

// routed is a call that was sent to a destination.
func routed(decisions ...journal.Decision) *facts {
	if decisions == nil {
		decisions = []journal.Decision{{Destination: "crm", Result: journal.Sent}}
	}
	return &facts{offset: 7, since: noon, routed: true, routedAt: after(1), routing: &journal.Call{Offset: 7, Result: journal.Routed, Decisions: decisions}}
}

func (f *facts) with(tries ...try) *facts {
	f.tries = append(f.tries, tries...)
	return f
}

func (f *facts) buried(letters ...letter) *facts {
	f.letters = append(f.letters, letters...)
	return f
}

func attempt(at, number int, o journal.Outcome, r schemas.Reason) try {
	return try{journal.Attempt{Destination: "crm", At: after(at), Number: number, Outcome: o, Reason: r, Endpoints: 1, Took: 48 * time.Millisecond, Offset: int64(number)}, "deliver.crm", schemas.ArchivedName{}}
}

func (t try) again() try {
	t.Until, t.Topic = after(60), "webhook-retry.1m"
	return t
}

func died(at int, destination string, r schemas.Reason, redriven int) letter {
	l := letter{DeadLetter{ID: "3-17", At: after(at), Reason: r}, destination, "", schemas.Position{}}
	if redriven > 0 {
		when := after(redriven)
		l.RedrivenAt = &when
	}
	return l
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		facts *facts
		want  string
	}{
		"delivered":          {routed().with(attempt(2, 1, journal.Delivered, "")), "crm delivered, 1"},
		"archived":           {routed().with(stored(attempt(2, 1, journal.Delivered, ""))), "crm delivered in web/2026-11-22/3-00000000000000000007-00000000000000000009.ndjson.gz, 0"},
		"filtered":           {routed(journal.Decision{Destination: "crm", Result: journal.Filtered, Why: "All"}), "crm filtered All, 0"},
		"retried":            {routed().with(attempt(2, 1, journal.Retried, "timeout").again()), "crm waiting timeout until 12:01:00 on webhook-retry.1m, 1"},
		"retried, delivered": {routed().with(attempt(2, 1, journal.Retried, "timeout").again(), attempt(60, 2, journal.Delivered, "")), "crm delivered, 2"},
		"held back":          {routed().with(try{journal.Attempt{Destination: "crm", At: after(2), Outcome: journal.Withheld, Until: after(9), Topic: "webhook-retry.5s"}, "deliver.crm", schemas.ArchivedName{}}), "crm waiting until 12:00:09 on webhook-retry.5s, 1"},
		"dead":               {routed().with(attempt(2, 1, journal.Dead, "status_4xx")).buried(died(2, "crm", "status_4xx", 0)), "crm dead status_4xx letter 3-17, 1"},
		"dead without one":   {routed().with(attempt(2, 1, journal.Dead, "status_4xx")), "crm dead status_4xx, 1; " + noteLetterNotFound},
		"redriven":           {routed().with(attempt(2, 1, journal.Dead, "status_4xx")).buried(died(2, "crm", "status_4xx", 50)), "crm waiting on deliver.crm letter 3-17, 1"},
		"redriven in vain":   {routed().with(attempt(2, 1, journal.Dead, "status_4xx"), attempt(51, 1, journal.Dead, "tls")).buried(died(2, "crm", "status_4xx", 50), died(51, "crm", "tls", 0)), "crm dead tls letter 3-17 letter 3-17, 2"},
		"redriven, taken":    {routed().with(attempt(2, 1, journal.Dead, "status_4xx"), attempt(51, 1, journal.Delivered, "")).buried(died(2, "crm", "status_4xx", 50)), "crm delivered letter 3-17, 2"},
		"not attempted":      {routed(), "crm waiting on deliver.crm, 0"},
		"topic gone":         {routed(journal.Decision{Destination: "crm", Result: journal.DecisionDead, Why: "topic_unavailable"}).buried(died(1, "crm", "topic_unavailable", 0)), "crm dead topic_unavailable letter 3-17, 0"},
		"topic gone, lost":   {routed(journal.Decision{Destination: "crm", Result: journal.DecisionDead, Why: "topic_unavailable"}), "crm dead topic_unavailable, 0; " + noteLetterNotFound},
		"copy":               {&facts{offset: 7, routed: true, routing: &journal.Call{Result: journal.Duplicate}}, " duplicate, 0"},
		"unconnected":        {&facts{offset: 7, routed: true, routing: &journal.Call{Result: journal.Unconnected}}, " unconnected, 0"},
		"dead as a whole":    {(&facts{offset: 7, routed: true, routing: &journal.Call{Result: journal.CallDead, Reason: "source_unknown"}}).buried(died(1, "", "source_unknown", 0)), " dead source_unknown letter 3-17, 0"},
		"blocked":            {(&facts{offset: -1}).buried(died(0, "", "plan_violation", 0)), " dead plan_violation letter 3-17, 0"},
		"not routed":         {&facts{offset: 7}, " waiting on raw-events, 0"},
	} {
		got := c.facts.assemble(fixed{})
		if len(got.Destinations) != 1 || shorthand(&got.Destinations[0]) != c.want {
			t.Errorf("%s: %+v, want %s", name, got.Destinations, c.want)
		}
	}
}

// stored is an entry of an archive.
func stored(t try) try {
	t.object = schemas.ArchivedName{Source: "web", Partition: 3, From: 7, To: 9}
	return t
}

// shorthand is a destination in few words.
func shorthand(d *Destination) string {
	text := d.ID + " " + string(d.Outcome)
	if d.Reason != "" {
		text += " " + d.Reason
	}
	if d.ArchivedIn != "" {
		text += " in " + d.ArchivedIn
	}
	if d.WaitingUntil != nil {
		text += " until " + d.WaitingUntil.Format(time.TimeOnly)
	}
	if d.WaitingOn != "" {
		text += " on " + d.WaitingOn
	}
	text += strings.Repeat(" letter 3-17", len(d.DeadLetters))
	text += fmt.Sprintf(", %d", len(d.Attempts))
	return strings.Join(append([]string{text}, d.Notes...), "; ")
}

// TestWhatTheJournalLacks: what can't be known is said, and never called delivered.
func TestWhatTheJournalLacks(t *testing.T) {
	t.Parallel()
	off := &facts{offset: 7, routed: true}
	if got := off.assemble(fixed{}); len(got.Destinations) != 0 || !slices.Equal(got.Notes, []string{noteNotJournalled}) {
		t.Errorf("of a router without a journal: %+v", got)
	}
	off.letters = []letter{died(3, "crm", "status_4xx", 0)}
	if got := off.assemble(fixed{}); len(got.Destinations) != 1 || got.Destinations[0].Outcome != Dead {
		t.Errorf("with a dead letter: %+v", got)
	}
	sink := routed()
	sink.passed = map[string]bool{"crm": true}
	if got := sink.assemble(fixed{}); got.Destinations[0].Outcome != Unknown || !slices.Equal(got.Destinations[0].Notes, []string{noteNoDelivery}) {
		t.Errorf("of a sink without a journal: %+v", got.Destinations)
	}
}

func TestAttemptsAreShown(t *testing.T) {
	t.Parallel()
	failed := attempt(2, 1, journal.Retried, schemas.ReasonStatus5xx).again()
	failed.Endpoints = 0b101
	again := failed
	again.At = after(4)
	got := routed().with(failed, again, attempt(60, 2, journal.Delivered, "")).assemble(fixed{after(30)})
	until := after(60)
	want := []Attempt{
		{At: after(2), Endpoint: "a.example.com, endpoint 3", Status: "5xx", Verdict: "retried", MS: 48, Number: 1, Reason: "status_5xx", Until: &until},
		{At: after(4), Endpoint: "a.example.com, endpoint 3", Status: "5xx", Verdict: "retried", MS: 48, Number: 1, Reason: "status_5xx", Until: &until, Repeat: true},
		{At: after(60), Endpoint: "a.example.com", Status: "2xx", Verdict: "delivered", MS: 48, Number: 2},
	}
	if diff := cmp.Diff(want, got.Destinations[0].Attempts); diff != "" || !got.Destinations[0].Changed {
		t.Errorf("changed %v, attempts (-want +got):\n%s", got.Destinations[0].Changed, diff)
	}
}

// life makes up what happens to an event of a call at a destination, from its offset on the
// destination's topic on, and returns what it has to come to.
func life(r *rand.Rand, offset int64, begin time.Time) (tries []try, want Outcome) {
	from, at := "deliver.crm", begin
	for number := 1; ; number++ {
		at = at.Add(time.Duration(1+r.IntN(900)) * time.Millisecond)
		t := try{journal.Attempt{Destination: "crm", Offset: offset, At: at, Number: number, Endpoints: 1, Outcome: journal.Delivered}, from, schemas.ArchivedName{}}
		switch n := r.IntN(10); {
		case n < 4:
			return append(tries, t), Delivered
		case n < 5:
			t.Outcome, t.Reason = journal.Dead, "status_4xx"
			return append(tries, t), Dead
		}
		t.Outcome, t.Topic = journal.Retried, fmt.Sprintf("webhook-retry.%ds", 1+r.IntN(3))
		t.Until = at.Add(time.Duration(1+r.IntN(3)) * time.Second)
		tries = append(tries, t)
		if r.IntN(5) == 0 {
			return tries, Waiting
		}
		from, offset, at = t.Topic, r.Int64N(1<<40), t.Until
	}
}

// TestSharing: whatever happened to calls with one fingerprint, each attempt is told once,
// and each call comes to what it came to, as far as attempts can be told apart.
func TestSharing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		var calls []*facts
		var tries []try
		var want []Outcome
		for i := range 1 + r.IntN(3) {
			f := routed()
			calls = append(calls, f)
			// Lives that do not overlap: otherwise attempts of one may be those of another.
			own, outcome := life(r, int64(100*i), noon.Add(time.Duration(i)*time.Hour))
			tries, want = append(tries, own...), append(want, outcome)
		}
		all := len(tries)
		if r.IntN(2) == 0 { // a copy, behind the call or between two of them
			at := 1 + r.IntN(len(calls))
			calls = slices.Insert(calls, at, &facts{offset: 8, routed: true, routing: &journal.Call{Result: journal.Duplicate}})
			want = slices.Insert(want, at, Duplicate)
		}
		r.Shuffle(all, func(i, j int) { tries[i], tries[j] = tries[j], tries[i] })
		share(calls, tries)
		told := 0
		for i, f := range calls {
			told += len(f.tries)
			if got := f.assemble(fixed{}).Destinations[0].Outcome; got != want[i] {
				t.Errorf("seed %d: call %d of %d came to %s, want %s", seed, i, len(calls), got, want[i])
			}
		}
		if told != all {
			t.Errorf("seed %d: %d of %d attempts were told", seed, told, all)
		}
	}
}

func TestExpects(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		facts *facts
		want  time.Time
	}{
		"delivered":     {routed().with(attempt(2, 1, journal.Delivered, "")), time.Time{}},
		"dead":          {routed().with(attempt(2, 1, journal.Dead, "tls")), time.Time{}},
		"not attempted": {routed(), after(1000)},
		"retried":       {routed().with(attempt(2, 1, journal.Retried, "tls").again()), after(60)},
		"redriven":      {routed().with(attempt(2, 1, journal.Dead, "tls")).buried(died(2, "crm", "tls", 50)), after(50)},
	} {
		call := c.facts.assemble(fixed{})
		if got, more := call.expects(after(1000)); more != !c.want.IsZero() || !got.Equal(c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, more, c.want)
		}
	}
}
