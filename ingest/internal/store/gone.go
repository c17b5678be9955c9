package store

import (
	"errors"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// gone is the topics that the brokers no longer have as the client knows them,
// until the prober has looked after them. Its zero value is empty.
type gone struct {
	mu    sync.Mutex
	names []string
}

// note takes in why a record was not stored.
func (g *gone) note(r *kgo.Record, err error) {
	if !errors.Is(err, kerr.UnknownTopicID) && !errors.Is(err, kerr.UnknownTopicOrPartition) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !slices.Contains(g.names, r.Topic) {
		g.names = append(g.names, r.Topic)
	}
}

// take returns the topics and forgets them.
func (g *gone) take() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	names := g.names
	g.names = nil
	return names
}
