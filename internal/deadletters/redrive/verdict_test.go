package redrive

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

func destinations() *workspace.Snapshot {
	sources := []workspace.Source{{ID: "website", Enabled: true}, {ID: "off"}}
	return workspace.NewSnapshot(sources, []workspace.Destination{{ID: "crm", Enabled: true}, {ID: "books", Enabled: true}, {ID: "off"}})
}

func TestJudge(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(destination string) deadletters.Letter {
		return deadletters.Letter{Record: &kgo.Record{}, Headers: schemas.Headers{Destination: destination, Reason: schemas.ReasonStatus4xx}}
	}
	blocked := func(source string) deadletters.Letter {
		return deadletters.Letter{Record: &kgo.Record{}, Headers: schemas.Headers{Source: source, Reason: schemas.ReasonPlanViolation}}
	}
	unread := func(topic string) deadletters.Letter {
		h := schemas.Headers{Source: "website", Reason: schemas.ReasonVersionUnknown, From: schemas.Position{Topic: topic}}
		return deadletters.Letter{Record: &kgo.Record{}, Headers: h}
	}
	stranger := blocked("website")
	stranger.Headers.Reason = schemas.ReasonSourceUnknown
	before := at("crm")
	before.RedrivenAt = noon
	broken := at("")
	broken.Unreadable = errors.New("header attempt")
	later := at("crm")
	later.Unreadable = fmt.Errorf("decode dead-letters[0]@1: %w", &schemas.VersionError{Version: 3})
	for name, c := range map[string]struct {
		letter deadletters.Letter
		again  time.Time
		want   verdict
	}{
		"fresh":                  {at("crm"), time.Time{}, send},
		"fresh, sent again":      {at("crm"), noon, send},
		"redriven":               {before, time.Time{}, redriven},
		"redriven, sent again":   {before, noon.Add(time.Millisecond), send},
		"redriven by this run":   {before, noon, redriven},
		"unreadable":             {broken, time.Time{}, unreadable},
		"of a later release":     {later, time.Time{}, laterVersion},
		"never routed":           {at(""), time.Time{}, noDestination},
		"destination removed":    {at("gone"), time.Time{}, removed},
		"destination disabled":   {at("off"), time.Time{}, disabled},
		"blocked by a plan":      {blocked("website"), time.Time{}, send},
		"unread by a router":     {unread(schemas.TopicRawEvents), time.Time{}, send},
		"unread by a sink":       {unread("webhook-retry.30s"), time.Time{}, noDestination},
		"its source was unknown": {stranger, time.Time{}, send},
		"its source removed":     {blocked("gone"), time.Time{}, noSource},
		"its source disabled":    {blocked("off"), time.Time{}, noSource},
	} {
		if got := judge(&c.letter, c.again, destinations()); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestTargets: what is sent to a topic that others read has arrived, and its mark says so.
func TestTargets(t *testing.T) {
	t.Parallel()
	r := newRun(Settings{Rate: 1, Workspace: workspace.NewSnapshot(nil, []workspace.Destination{
		{ID: "crm", Type: workspace.TypeWebhooks},
		{ID: "cold", Type: workspace.TypeArchive},
		{ID: "spare", Type: workspace.TypeTopic},
		{ID: "warehouse", Type: workspace.TypeTopic, Export: &workspace.Export{Name: "calls"}},
	})})
	for id, want := range map[string]struct {
		topic   string
		arrived bool
	}{
		"": {schemas.TopicRawEvents, false}, "crm": {"deliver.crm", false}, "cold": {"deliver.archive.cold", false},
		"spare": {"deliver.export.spare", true}, "warehouse": {"calls", true},
	} {
		topic, arrived := r.target(id)
		if topic != want.topic || arrived != want.arrived {
			t.Errorf("%q: %s, arrived %t", id, topic, arrived)
		}
		l := &deadletters.Letter{Record: new(kgo.Record)}
		l.Headers.Destination = id
		p, err := pack(l, new(kgo.Record), topic, arrived, time.Now())
		if err != nil || p.event.Topic != topic {
			t.Fatalf("%s, %v", p.event.Topic, err)
		}
		if _, _, marked, err := deadletters.ReadMark(p.mark); err != nil || marked != arrived {
			t.Errorf("%q: the mark says %t, %v", id, marked, err)
		}
	}
}
