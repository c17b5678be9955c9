package store

import (
	"errors"
	"strings"
	"testing"
)

func TestLink(t *testing.T) {
	miss := errors.New("connection refused")
	l := newLink()
	if _, err := l.open(); !errors.Is(err, errNoBrokers) || !errors.Is(err, errNoAnswerYet) {
		t.Fatalf("a new link: got %v", err)
	}
	steps := []struct {
		probe       error
		up, changed bool
	}{
		{miss, false, false},
		{nil, true, true},
		{nil, true, false},
		{miss, true, false},
		{nil, true, false}, // the count begins anew
		{miss, true, false},
		{miss, false, true},
		{miss, false, false},
		{nil, true, true},
		{miss, true, false},
		{miss, false, true},
	}
	for i, step := range steps {
		gone, before := l.open()
		changed := l.report(step.probe)
		_, err := l.open()
		if changed != step.changed || (err == nil) != step.up {
			t.Fatalf("step %d: got up %v, changed %v; want %v, %v", i, err == nil, changed, step.up, step.changed)
		}
		if before == nil && isClosed(gone) == step.up {
			t.Fatalf("step %d: those who wait are told %v, up is %v", i, isClosed(gone), step.up)
		}
		if err != nil && !strings.Contains(err.Error(), miss.Error()) {
			t.Fatalf("step %d: %v does not say why", i, err)
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
