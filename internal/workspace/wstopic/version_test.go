package wstopic

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestALaterReleaseWritesToTheWorkspace, as it does in the midst of an upgrade: this
// one goes on with what it understands, says so once, and writes nothing over it.
func TestALaterReleaseWritesToTheWorkspace(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	apply(t, p, wstest.Of("a"))
	f, live, out := following(t, c.Options())
	ready(t, f)
	write(t, c, record("destination/a", `{"version":3,"type":"webhooks","endpoints":[{"url":"http://later"}]}`))
	for i := range 10 {
		write(t, c, record(fmt.Sprintf("segment/a%d", i), `{}`))
	}
	write(t, c, record("destination/b", `{"type":"webhooks","endpoints":[{"url":"http://b"}]}`))
	inForce(t, live, "a", "b")
	if a, _ := live.Load().Destination("a"); a.Endpoints[0].URL != "https://a.example.com/" {
		t.Errorf("the endpoint in force is %s", a.Endpoints[0])
	}
	if n := out.Count("a later release wrote to the workspace"); n != 1 || out.Count("record skipped") != 0 {
		t.Errorf("said %d times:\n%s", n, out)
	}
	if got := testutil.ToFloat64(f.metrics.unreadable); got != 11 {
		t.Errorf("counted %v records", got)
	}

	if _, err := p.Apply(t.Context(), wstest.Of("c")); err == nil || !strings.Contains(err.Error(), "a later release wrote destination/a") {
		t.Errorf("Apply = %v, want it refused", err)
	}
	if changes, err := p.Seed(t.Context(), wstest.Of("c")); err != nil || len(changes) != 0 {
		t.Errorf("Seed = %v, %v, want nothing done", changes, err)
	}
	write(t, c, &kgo.Record{Key: []byte("destination/a")})
	apply(t, p, wstest.Of("c"))
	inForce(t, live, "c")
}

// TestApplyKeepsWhatALaterReleaseWrote: a release that is rolled back goes on
// administrating the workspace, and must not undo what it does not know.
func TestApplyKeepsWhatALaterReleaseWrote(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	apply(t, p, wstest.Of())
	write(t, c, record("destination/a", `{"type":"webhooks","name":"A","enabled":true,"format":"v2","endpoints":[{"url":"https://a.example.com/","weight":7}]}`))
	if lines := wstest.Lines(apply(t, p, wstest.Of("a"))); len(lines) != 1 || lines[0] != "~ destination a: name, sources changed" {
		t.Fatalf("changed %v", lines)
	}
	var last string
	for _, r := range c.ReadAll(t, schemas.TopicWorkspace, 5) {
		if string(r.Key) == "destination/a" {
			last = string(r.Value)
		}
	}
	for _, kept := range []string{`"format":"v2"`, `"weight":7`, `"name":"a"`, `"sources":["website"]`} {
		if !strings.Contains(last, kept) {
			t.Errorf("no %s in %s", kept, last)
		}
	}
}
