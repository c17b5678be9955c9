package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

// Entry is all that the topic says of a run. What is handed out is not changed any more.
type Entry struct {
	Run   Run              // without an id: there is a plan at most
	Plan  *Plan            // what it was started by, or can be; nil: it has no plan, or that is forgotten
	Parts map[string]*Part // by destination; none of those that were not begun
	Claim Claim
}

// Over reports whether there is nothing left to be done for the run.
func (e *Entry) Over() bool {
	return !slices.ContainsFunc(e.Run.Destinations, func(id string) bool {
		p := e.Parts[id]
		return p == nil || p.State == Open
	})
}

// State is a word for people: waiting (for a router), running, paused, cancelled, failed (it
// could not go on; a part's Note says why) or done.
func (e *Entry) State() string {
	switch {
	case e.Over() && slices.ContainsFunc(e.Run.Destinations, func(id string) bool { return e.Parts[id].Note != "" }):
		return "failed"
	case e.Over() && slices.ContainsFunc(e.Run.Destinations, func(id string) bool { return e.Parts[id].State == Abandoned }):
		return string(Cancelled)
	case e.Over():
		return string(Done)
	case e.Run.Wish != Running:
		return string(e.Run.Wish)
	case e.Claim.Token == "":
		return "waiting"
	}
	return string(Running)
}

// Remaining is about how long the run will take from here: as long for each event that is
// left as it took for those that were read. False: nothing was read yet.
func (e *Entry) Remaining() (d time.Duration, ok bool) {
	for _, p := range e.Parts {
		left := p.left(&e.Run)
		read := e.Run.Events() - left
		if p.State != Open || read == 0 {
			continue
		}
		took := time.Duration(p.ActiveMs) * time.Millisecond
		d, ok = max(d, time.Duration(float64(took)*float64(left)/float64(read))), true
	}
	return d, ok
}

// Heard is when something was last written about the run.
func (e *Entry) Heard() time.Time {
	last := e.Run.ChangedAt
	if e.Claim.At.After(last) {
		last = e.Claim.At
	}
	for _, p := range e.Parts {
		if p.Updated.After(last) {
			last = p.Updated
		}
	}
	return last
}

// Sent is how many events were sent.
func (e *Entry) Sent() (n int64) {
	for _, p := range e.Parts {
		n += p.Sent
	}
	return n
}

// Left is how many events were left out, by reason.
func (e *Entry) Left() map[Reason]int64 {
	all := make(map[Reason]int64)
	for _, p := range e.Parts {
		for reason, n := range p.Left {
			all[reason] += n
		}
	}
	return all
}

// Read is how many offsets were read, for all destinations.
func (e *Entry) Read() int64 {
	n := int64(len(e.Run.Destinations)) * e.Run.Events()
	for _, id := range e.Run.Destinations {
		if p := e.Parts[id]; p != nil {
			n -= p.left(&e.Run)
		} else {
			n -= e.Run.Events()
		}
	}
	return n
}

// Book holds what the topic says of runs. It is filled by whoever follows the topic, record
// by record in the topic's order; all methods may be called at the same time.
type Book struct {
	mu      sync.Mutex
	entries map[string]*Entry
	changed chan struct{}
}

// NewBook returns a book of no runs.
func NewBook() *Book {
	return &Book{entries: make(map[string]*Entry), changed: make(chan struct{})}
}

// Changed is closed with the next record.
func (b *Book) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// Get returns what is known of a run; nil: nothing.
func (b *Book) Get(id string) *Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.entries[id]
}

// All returns what is known of all runs, the first made first.
func (b *Book) All() []*Entry {
	return b.those(func(e *Entry) bool { return e.Run.ID != "" })
}

// plans are the entries with a plan, the first made first.
func (b *Book) plans() []*Entry {
	return b.those(func(e *Entry) bool { return e.Plan != nil })
}

func (b *Book) those(meant func(*Entry) bool) (all []*Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(b.entries)) {
		if meant(b.entries[id]) {
			all = append(all, b.entries[id])
		}
	}
	return all
}

// Add takes a record in. After an error the book is as it was: what a later release writes
// is for its like.
func (b *Book) Add(rec *kgo.Record) error {
	kind, rest, _ := strings.Cut(string(rec.Key), "/")
	id, destination, _ := strings.Cut(rest, "/")
	if !schemas.ValidID(id) {
		return fmt.Errorf("%s: key %.100q: expected run/ID, part/ID/DESTINATION or claim/ID", schemas.TopicReplays, rec.Key)
	}
	if err := schemas.CheckVersionOf(rec.Value, archivedVersion); err != nil {
		return fmt.Errorf("%s: %s: %w", schemas.TopicReplays, rec.Key, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := new(Entry)
	if before := b.entries[id]; before != nil {
		*e = *before
	}
	if err := e.take(kind, id, destination, rec.Value); err != nil {
		return fmt.Errorf("%s: decode %s: %w", schemas.TopicReplays, rec.Key, err)
	}
	if b.entries[id] = e; e.empty() {
		delete(b.entries, id)
	}
	close(b.changed)
	b.changed = make(chan struct{})
	return nil
}

// empty reports whether nothing is known.
func (e *Entry) empty() bool {
	return e.Run.ID == "" && e.Plan == nil && len(e.Parts) == 0 && e.Claim.At.IsZero()
}

func (e *Entry) take(kind, id, destination string, value []byte) error {
	switch kind {
	case kindRun:
		r := Run{ID: id}
		if err := json.Unmarshal(value, &r); err != nil {
			return err
		}
		if e.Run.Wish != Cancelled { // that is the last word, whoever says otherwise at the same time
			e.Run = r
		}
	case kindClaim:
		var c Claim
		if err := json.Unmarshal(value, &c); err != nil {
			return err
		}
		e.Claim = c
	case kindPart:
		p := new(Part)
		if err := json.Unmarshal(value, p); err != nil {
			return err
		}
		if e.Parts = maps.Clone(e.Parts); e.Parts == nil {
			e.Parts = make(map[string]*Part)
		}
		e.Parts[destination] = p
	case kindPlan:
		if e.Plan = nil; len(value) == 0 { // it is forgotten
			return nil
		}
		p := &Plan{Run: Run{ID: id}}
		if err := json.Unmarshal(value, p); err != nil {
			return err
		}
		e.Plan = p
	default: // of a later release
	}
	return nil
}
