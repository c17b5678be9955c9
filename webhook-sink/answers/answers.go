// Package answers keeps what endpoints said when they refused a delivery, or failed over it:
// the last few answers of each, in memory, for people who have to find out why. An answer may
// hold whatever its receiver likes, so nobody sees it who is not allowed to, and no log does.
package answers

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
)

const (
	// PerEndpoint is how many answers are kept of an endpoint.
	PerEndpoint = 20
	// MostBytes is what all of them take at most, over all endpoints: the twenty of some 320
	// endpoints if each is a full kilobyte. What is oldest goes first.
	MostBytes = 8 << 20

	// overhead is about what an answer takes beside its texts.
	overhead = 256
)

// Answer is one that is no success.
type Answer struct {
	At        time.Time `json:"at"`
	MessageID string    `json:"messageId"` // of the event
	Status    int       `json:"status"`
	MS        int64     `json:"ms"`   // how long it took
	Body      string    `json:"body"` // how it begins, without the secrets of the endpoint
}

// bytes is about what an answer takes in memory.
func (a *Answer) bytes() int { return len(a.Body) + len(a.MessageID) + overhead }

// Endpoint are the answers of one endpoint of a destination.
type Endpoint struct {
	Position int      `json:"endpoint"` // from 1
	URL      string   `json:"url"`      // without secrets
	Answers  []Answer `json:"answers"`  // the latest first
}

// Book is where answers are kept. It may be used by many goroutines. Make it with [New].
type Book struct {
	most int

	mu    sync.Mutex
	bytes int
	all   *list.List // of *kept, the oldest first
	of    map[place][]*list.Element
}

// place is an endpoint, by its [workspace.Endpoint.Fingerprint].
type place struct {
	destination string
	endpoint    uint64
}

type kept struct {
	Answer

	from place
}

// New returns a book for at most so many bytes.
func New(most int) *Book {
	return &Book{most: most, all: list.New(), of: make(map[place][]*list.Element)}
}

// Keep takes in an answer of an endpoint. For its sake the oldest are forgotten: of this
// endpoint beyond [PerEndpoint], and of all beyond the bytes there may be.
func (b *Book) Keep(destination string, endpoint uint64, a Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	from := place{destination, endpoint}
	if known := b.of[from]; len(known) >= PerEndpoint {
		b.forget(known[0])
	}
	b.of[from] = append(b.of[from], b.all.PushBack(&kept{a, from}))
	b.bytes += a.bytes()
	for b.bytes > b.most {
		b.forget(b.all.Front())
	}
}

// forget removes an answer, which is the oldest of its endpoint.
func (b *Book) forget(e *list.Element) {
	gone, _ := b.all.Remove(e).(*kept)
	b.bytes -= gone.bytes()
	if left := slices.Delete(b.of[gone.from], 0, 1); len(left) > 0 {
		b.of[gone.from] = left
	} else {
		delete(b.of, gone.from)
	}
}

// Of returns the answers of the endpoints of a destination, those without any among them.
func (b *Book) Of(d *workspace.Destination) []Endpoint {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]Endpoint, len(d.Endpoints))
	for i, e := range d.Endpoints {
		all[i] = Endpoint{Position: i + 1, URL: e.SafeURL(), Answers: []Answer{}}
		known := b.of[place{d.ID, e.Fingerprint()}]
		for j := range known {
			if one, ok := known[len(known)-1-j].Value.(*kept); ok {
				all[i].Answers = append(all[i].Answers, one.Answer)
			}
		}
	}
	return all
}
