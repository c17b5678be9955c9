package messagetrace

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// ViolationsOf says which violations of tracking plans are counted.
type ViolationsOf struct {
	Source       string    // empty: those of all sources
	Since, Until time.Time // when the calls were stored, Until excluded
}

// Violations are what tracking plans had against calls, as far as something was kept of it:
// calls that were marked are on raw-events, and those that were blocked among dead letters.
type Violations struct {
	// From and To are what was read. From is later than was asked for where time ran out.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Marked and Blocked are calls, each counted once however many rules it violates.
	Marked  int64 `json:"marked"`
	Blocked int64 `json:"blocked"`
	// Rules are what was violated, most often first, [MostRules] at most. Others are
	// violations of rules beyond those.
	Rules  []Rule `json:"rules"`
	Others int64  `json:"others,omitempty"`
	// Notes say what can't be known, and why.
	Notes []string `json:"notes,omitempty"`
}

// Rule is what a tracking plan asks of a type of call, or of an event, and calls did not
// fulfil.
type Rule struct {
	Source string       `json:"source"`
	Type   schemas.Type `json:"type"`
	Event  string       `json:"event,omitempty"` // of track calls
	Violation

	Marked  int64     `json:"marked"` // calls
	Blocked int64     `json:"blocked"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	Samples []Sample  `json:"samples"` // the newest first, a few
}

// Sample is a call that violates a rule.
type Sample struct {
	At         time.Time `json:"at"`
	MessageID  string    `json:"message_id"`
	User       string    `json:"user"`
	DeadLetter string    `json:"dead_letter,omitempty"` // of a call that was blocked
}

const (
	// MostRules bounds what is counted by itself: names of events and properties are what
	// callers say.
	MostRules = 1000
	// samples is how many calls are named of each rule.
	samples = 3
	// longestWindow bounds how much is read before it counts.
	longestWindow = time.Hour
)

// marks is what each call holds that was marked, and others may.
var marks = []byte(`"violations":[`)

// FindViolations counts violations, the newest first. Where ctx ends before all was read,
// what was read completely by then is returned with the error.
func FindViolations(ctx context.Context, log *Log, of ViolationsOf) (*Violations, error) {
	to := earliest(of.Until, time.Now()).UTC().Truncate(time.Millisecond)
	found := &tally{rules: make(map[rule]*Rule)}
	v := &Violations{From: to, To: to, Rules: []Rule{}, Notes: allowing(log.Workspace, of.Source)}
	var failed error
	for _, w := range violationWindows(of.Since, of.Until) {
		if log.Progress != nil {
			log.Progress(v.From, found.read)
		}
		part := &tally{source: of.Source, rules: make(map[rule]*Rule)}
		if failed = log.tally(ctx, w, part); failed != nil {
			break
		}
		found.merge(part)
		v.From = w.From.UTC()
	}
	v.Marked, v.Blocked, v.Others, v.Rules = found.marked, found.blocked, found.others, found.sorted()
	if failed != nil {
		return v, failed
	}
	begins, err := log.beginning(ctx, schemas.TopicRawEvents, nil)
	if err == nil && begins.After(of.Since) {
		v.Notes = append(v.Notes, "raw-events goes back to "+begins.Format(moment)+": retention has deleted what came before")
	}
	return v, err
}

// allowing says of which sources nothing is kept.
func allowing(w *workspace.Snapshot, only string) (notes []string) {
	var ids []string
	for _, s := range w.Sources() {
		if s.Plan != nil && s.Plan.Action == workspace.PlanAllow && (only == "" || only == s.ID) {
			ids = append(ids, s.ID)
		}
	}
	if len(ids) > 0 {
		notes = append(notes, "the plan of "+strings.Join(ids, ", ")+" lets calls pass unmarked: their violations are counted in anabranch_ingest_plan_violations_total alone")
	}
	return notes
}

// violationWindows are the parts of a time, the newest first, each twice as long as the one
// before, up to a bound.
func violationWindows(since, until time.Time) (all []window) {
	for to, length := until, firstEvents; to.After(since); length = min(2*length, longestWindow) {
		from := latest(to.Add(-length), since)
		all = append(all, window{from, to})
		to = from
	}
	return all
}

// tally reads what came in a window.
func (l *Log) tally(ctx context.Context, w window, into *tally) error {
	for topic, text := range map[string][]byte{schemas.TopicRawEvents: marks, schemas.TopicDeadLetters: []byte(schemas.ReasonPlanViolation)} {
		spans, err := l.spans(ctx, topic, nil, w)
		if err != nil {
			return err
		}
		for _, span := range spans {
			into.read += span.Left()
		}
		if err = l.scan(ctx, spans, func(r *kgo.Record) error { into.take(r); return nil }, text); err != nil {
			return err
		}
	}
	return nil
}

// rule is what a [Rule] is counted by.
type rule struct {
	source string
	kind   schemas.Type
	event  string
	Violation
}

// tally counts violations.
type tally struct {
	source                        string // empty: any
	rules                         map[rule]*Rule
	read, marked, blocked, others int64
}

// take counts what a record says of a call.
func (t *tally) take(r *kgo.Record) {
	h, _ := kafka.HeadersOf(r) // what could be read of them
	dead := r.Topic == schemas.TopicDeadLetters
	switch {
	case t.source != "" && t.source != h.Source, dead && h.Reason != schemas.ReasonPlanViolation, !dead && !bytes.Contains(r.Value, marks):
		return
	}
	f := described(r, &h)
	one := Rule{Source: f.call.Source, Type: f.call.Type, Event: f.call.Event, First: f.since, Last: f.since}
	call, found := Sample{At: f.since, MessageID: h.MessageID, User: f.key}, f.call.Violations
	if dead {
		call.DeadLetter, found, one.Blocked = buried(r, &h).ID, violationsOf(h.Detail), 1
	} else {
		one.Marked = 1
	}
	if len(found) == 0 {
		return
	}
	t.marked, t.blocked = t.marked+one.Marked, t.blocked+one.Blocked
	for _, one.Violation = range found {
		one.Samples = []Sample{call}
		t.count(one)
	}
}

// count adds what is known of a rule to what is known already.
func (t *tally) count(one Rule) {
	key := rule{one.Source, one.Type, one.Event, one.Violation}
	all := t.rules[key]
	switch {
	case all != nil:
	case len(t.rules) >= MostRules:
		t.others += one.Marked + one.Blocked
		return
	default:
		t.rules[key] = &one
		return
	}
	all.Marked, all.Blocked = all.Marked+one.Marked, all.Blocked+one.Blocked
	all.First, all.Last = earliest(all.First, one.First), latest(all.Last, one.Last)
	all.Samples = append(all.Samples, one.Samples...)
	slices.SortStableFunc(all.Samples, func(a, b Sample) int { return b.At.Compare(a.At) })
	all.Samples = all.Samples[:min(len(all.Samples), samples)]
}

// merge adds what came in an earlier window.
func (t *tally) merge(part *tally) {
	t.read, t.marked, t.blocked, t.others = t.read+part.read, t.marked+part.marked, t.blocked+part.blocked, t.others+part.others
	for _, one := range part.sorted() {
		t.count(one)
	}
}

// sorted are the rules, those first that were violated most often.
func (t *tally) sorted() []Rule {
	all := make([]Rule, 0, len(t.rules))
	for one := range maps.Values(t.rules) {
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(b.Marked+b.Blocked, a.Marked+a.Blocked), strings.Compare(a.Source, b.Source), strings.Compare(string(a.Type), string(b.Type)),
			strings.Compare(a.Event, b.Event), strings.Compare(a.Path, b.Path), strings.Compare(a.Message, b.Message))
	})
	return all
}

// finding is one of those that ingest puts into the detail of a dead letter. A name may hold
// what stands between two of them, so it ends where the words of a finding follow.
var finding = regexp.MustCompile(`(?s)(.*?): (not in the tracking plan|found [^:;]+, expected [^:;]+)(?:; |$)`)

// violationsOf reads the detail of a dead letter.
func violationsOf(detail string) (all []Violation) {
	for _, match := range finding.FindAllStringSubmatch(detail, -1) {
		all = append(all, Violation{Path: match[1], Message: match[2]})
	}
	if all == nil {
		all = []Violation{{Message: detail}}
	}
	return all
}
