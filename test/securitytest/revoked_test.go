package securitytest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/app"
	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestRevokedAndGrantedAgain takes permissions from stages that run. Each says so,
// nothing is lost or doubled meanwhile, and all goes on by itself once they are
// granted again.
func TestRevokedAndGrantedAgain(t *testing.T) {
	n := secured(t)
	y := newYard(t, n)
	y.allowAll(t, true)
	y.apply(t)
	in := y.start(t, "ingest").ready(t)
	stages := map[string]*stage{
		"ingest": in, "router": y.start(t, "router").ready(t), "webhook-sink": y.start(t, "webhook-sink").ready(t),
	}
	y.delivered(t, "/good", y.call(t, in, "Signed Up"), 1)
	for _, c := range []struct {
		stage, topic string
		operation    kmsg.ACLOperation
	}{
		{"router", deliverTopics, kmsg.ACLOperationWrite},
		{"router", schemas.TopicRawEvents, kmsg.ACLOperationRead},
		{"webhook-sink", deliverTopics, kmsg.ACLOperationRead},
	} {
		rule, who := y.rule(t, c.stage, c.topic, c.operation), y.who[c.stage].principal
		said := complaints(stages[c.stage])
		y.forbid(t, who, rule)
		id := y.call(t, in, "Signed Up")
		testkit.Until(t, func() bool { return complaints(stages[c.stage]) > said }, c.stage+" to say that it lacks "+rule.String())
		y.allow(t, who, rule)
		y.delivered(t, "/good", id, 1)
	}

	rule := y.rule(t, "ingest", schemas.TopicRawEvents, kmsg.ACLOperationWrite)
	y.forbid(t, y.who["ingest"].principal, rule)
	testkit.Until(t, func() bool { return y.tried(t, in, "refused") == http.StatusServiceUnavailable }, "calls to be refused")
	y.allow(t, y.who["ingest"].principal, rule)
	testkit.Until(t, func() bool { return y.tried(t, in, "taken") == http.StatusOK }, "calls to be taken in")
	y.delivered(t, "/good", `"taken"`, 1)
	if complaints(in) == 0 {
		t.Errorf("ingest did not say what it lacks:\n%s", in.log.String())
	}
	for _, s := range stages {
		s.stop(t)
	}
}

const deliverTopics = "deliver."

// complaints is how many lines of a stage's log are about ACLs.
func complaints(s *stage) int { return strings.Count(s.log.String(), "docs/brokers.md") }

// rule finds one of a role's.
func (y *yard) rule(t *testing.T, role, topic string, operation kmsg.ACLOperation) acl.Rule {
	t.Helper()
	r, _ := acl.Named(app.Roles(app.Stages()), role)
	i := slices.IndexFunc(r.Rules, func(rule acl.Rule) bool { return rule.Name == topic && rule.Operation == operation })
	if i < 0 {
		t.Fatalf("%s has no rule about %s", role, topic)
	}
	return r.Rules[i]
}

// tried sends a call and returns the status of the answer.
func (y *yard) tried(t *testing.T, in *stage, user string) int {
	t.Helper()
	status, _ := ask(t, "http://wk_web:@"+in.collect+"/v1/track", `{"userId":"`+user+`","event":"Signed Up"}`)
	return status
}
