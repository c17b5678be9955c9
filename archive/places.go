package archive

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/anabranch/anabranch/archive/internal/cut"
	"github.com/anabranch/anabranch/internal/objects"
	"github.com/anabranch/anabranch/internal/workspace"
)

// maxObjects bounds how many objects a range makes: while it is written, each is a
// compressor with a megabyte of its own.
const maxObjects = 32

// limitsOf says when ranges of a destination are closed.
func limitsOf(a *workspace.Archive) cut.Limits {
	return cut.Limits{Bytes: int(a.MaxBytes), Age: a.MaxAge, Objects: maxObjects}
}

// topicsOf returns the topics of all archives.
func topicsOf(ws *workspace.Snapshot) []string {
	archives := ws.DestinationsOf(workspace.TypeArchive)
	topics := make([]string, 0, len(archives))
	for _, d := range archives {
		topics = append(topics, d.Topic())
	}
	return topics
}

// errNobody is of events whose destination is not in the workspace any more. They wait: it
// may come back, and where else they should go nobody has said.
var errNobody = errors.New("the workspace has no archive of that id: its events wait until it has, or until the topic is deleted")

// places opens the stores of destinations, and makes sure that each is of one topic.
type places struct {
	store func(objects.Place) (objects.Store, error) // objects.Open, but in tests

	mu    sync.Mutex
	known map[objects.Place]*place
}

// place is one that was opened.
type place struct {
	objects.Store

	at    objects.Place
	owner objects.Owner // zero until it is claimed
}

// open returns the store of a destination, once it belongs to the topic.
func (p *places) open(ctx context.Context, ws *workspace.Snapshot, destination string, topic cut.TopicID) (*place, error) {
	d, ok := ws.Destination(destination)
	if !ok || d.Archive == nil || !d.Is(workspace.TypeArchive) {
		return nil, errNobody
	}
	if d.Sealed() {
		return nil, errors.New("its keys are sealed, and this process lacks the key: see SECRETS_KEY")
	}
	found, err := p.of(objects.PlaceOf(d.Archive))
	if err != nil {
		return nil, err
	}
	by := objects.Owner{Topic: d.Topic(), ID: hex.EncodeToString(topic[:])}
	p.mu.Lock()
	claimed := found.owner == by
	p.mu.Unlock()
	if claimed {
		return found, nil
	}
	if err = objects.Claim(ctx, found, by); err != nil {
		return nil, fmt.Errorf("claim the archive: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	found.owner = by
	return found, nil
}

func (p *places) of(at objects.Place) (*place, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found := p.known[at]; found != nil {
		return found, nil
	}
	s, err := p.store(at)
	if err != nil {
		return nil, err
	}
	if p.known == nil {
		p.known = make(map[objects.Place]*place)
	}
	p.known[at] = &place{Store: s, at: at}
	return p.known[at], nil
}
