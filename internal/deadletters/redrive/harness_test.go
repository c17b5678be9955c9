package redrive

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/deadletters/internal/dltest"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// plant is a cluster with the dead letters of crm.
type plant struct {
	*dltest.Yard

	t       *testing.T
	cluster *testkit.Cluster
	out     bytes.Buffer
	err     testkit.Logs
}

// newPlant lets n events die at crm.
func newPlant(t *testing.T, cluster *testkit.Cluster, n int) *plant {
	t.Helper()
	p := &plant{Yard: dltest.New(t, cluster.Client(t), cluster.Options()), t: t, cluster: cluster}
	p.Ensure(t, schemas.TopicDeadLetters, schemas.DeliverTopic("crm"))
	for i := range n {
		p.Die(t, dltest.Headers(i, "crm", schemas.ReasonStatus4xx))
	}
	return p
}

// settings select the dead letters of crm, as fast as can be.
func (p *plant) settings() Settings {
	return Settings{
		Log: p.Log, Workspace: destinations(), Out: &p.out, Err: &p.err,
		Selection: deadletters.Selection{Destination: "crm"}, Rate: MaxRate,
	}
}

// run runs to the end and returns what was printed.
func (p *plant) run(set Settings) string {
	p.t.Helper()
	p.out.Reset()
	if err := Run(p.t.Context(), set); err != nil {
		p.t.Fatalf("redrive: %v\n%s", err, p.out.String())
	}
	return p.out.String()
}

// expect fails the test unless a text holds all of the words.
func expect(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("want %q in:\n%s", word, text)
		}
	}
}

// delivered waits until the sink would have got n events and checks that each of
// the first `distinct` died events is among them equally often.
func (p *plant) delivered(n, distinct int) []*kgo.Record {
	p.t.Helper()
	records := p.cluster.ReadAll(p.t, schemas.DeliverTopic("crm"), n)
	times := make(map[string]int)
	for _, r := range records {
		times[string(r.Value)]++
	}
	for i := range distinct {
		value := string(dltest.Event(dltest.Headers(i, "crm", "")).Value)
		if times[value] != n/distinct {
			p.t.Errorf("%s was sent %d times, want %d", value, times[value], n/distinct)
		}
	}
	return records
}

// after calls do once the sink could have read n events.
func (p *plant) after(n int, do func()) {
	cl := p.cluster.Client(p.t, kgo.ConsumeTopics(schemas.DeliverTopic("crm")), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	go func() {
		for seen := 0; seen < n; {
			fetches := cl.PollFetches(context.Background())
			if errors.Is(fetches.Err0(), kgo.ErrClientClosed) {
				return
			}
			seen += fetches.NumRecords()
		}
		do()
	}()
}
