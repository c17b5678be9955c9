package securitytest

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/app"
	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestTheListIsExact: with what package acl lists, and nothing else, everything works
// from the call to the redrive, whether stages may create topics or `apply` alone;
// and of each rule the broker has made use.
func TestTheListIsExact(t *testing.T) {
	n := secured(t)
	before := n.logged(t)
	for name, create := range map[string]bool{"topics are created": true, "topics are there": false} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, n)
			y.allowAll(t, true)
			if create {
				y.createByStages(t)
			}
			y.apply(t)
			if !create {
				for _, role := range []string{"ingest", "router", "personas", "webhook-sink", "archive", "dead-letters redrive"} {
					y.forbidCreating(t, role)
				}
			}
			y.everything(t, create)
			y.nothingWasDenied(t)
			// It asks what it may do, and is denied what it may not; that is a problem
			// of stages, as whom it does not run.
			_, _ = run(t, y.environment("status"), "doctor")
		})
	}
	who := n.principals(t)
	for _, role := range app.Roles(app.Stages()) {
		seen := n.verdicts(t, who[role.Name].principal, before)
		for _, r := range role.Rules {
			if !used(r, seen) {
				t.Errorf("%s never needed %s", role.Name, r)
			}
		}
	}
}

// createByStages starts each stage on a broker without topics and stops it, then
// those that create topics of destinations on one that lacks these.
func (y *yard) createByStages(t *testing.T) {
	t.Helper()
	for _, target := range []string{"ingest", "router", "personas", "webhook-sink", "archive"} {
		y.deleteTopics(t, "")
		s := y.start(t, target)
		testkit.Until(t, func() bool { return s.says("workspace in force") }, target+" to have created its topics")
		s.stop(t)
	}
	y.deleteTopics(t, "")
	y.apply(t)
	for _, target := range []string{"router", "webhook-sink"} {
		y.deleteTopics(t, "deliver.")
		y.deleteTopics(t, "webhook-retry.")
		y.poison(t) // a router looks when there is something to route
		s := y.start(t, target)
		y.has(t, "deliver.good")
		s.ready(t).stop(t)
	}
	y.deleteTopics(t, schemas.ArchivePrefix)
	s := y.start(t, "archive")
	y.has(t, schemas.ArchiveTopic("kept"))
	s.ready(t).stop(t)
}

func (y *yard) forbidCreating(t *testing.T, role string) {
	t.Helper()
	r, _ := acl.Named(app.Roles(app.Stages()), role)
	creating := slices.DeleteFunc(r.Rules, func(rule acl.Rule) bool { return !rule.Creates })
	y.forbid(t, y.who[role].principal, creating...)
}

// everything is a day in the life of an installation.
func (y *yard) everything(t *testing.T, create bool) {
	t.Helper()
	in := y.start(t, "ingest").ready(t)
	router := y.start(t, "router").ready(t)
	sink := y.start(t, "webhook-sink").ready(t)
	personas := y.start(t, "personas").ready(t)
	archive := y.start(t, "archive").ready(t)

	first := y.call(t, in, "Signed Up")
	y.delivered(t, "/told", `"traits":{"newcomers":true}`, 1)
	y.delivered(t, "/told", `"traits":{"newcomers":false}`, 1) // when time has passed
	y.command(t, "personas list")
	if out, err := run(t, y.environment("personas list"), "personas", "history", "sign_ups"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	y.command(t, "personas resync", "--destination", "told", "sign_ups")
	y.delivered(t, "/told", `"traits":{"sign_ups":1}`, 2)
	personas.stop(t)
	y.archived(t)
	archive.stop(t)
	personas = y.start(t, "personas").ready(t) // it restores what it had
	y.delivered(t, "/good", first, 1)
	y.delivered(t, "/flaky", first, 2)
	y.delivered(t, "/bad", first, 1)
	y.listed(t, `"status_4xx"`)
	y.call(t, in, "Unplanned")
	y.listed(t, `"plan_violation"`)
	y.poison(t)
	y.listed(t, `"record_invalid"`)
	// Who was never seen is told to nobody.
	if status, text := ask(t, "http://wk_web:@"+in.collect+"/v1/track", `{"userId":"u2","event":"Signed Up"}`); status != http.StatusOK {
		t.Fatalf("the call was answered %d %s", status, text)
	}
	y.deleteUser(t, in, "u2")
	personas.stop(t)

	if create {
		y.deleteTopics(t, "dead-letters-redriven")
	}
	y.command(t, "dead-letters redrive", "--reason", "status_4xx")
	y.delivered(t, "/bad", first, 2)
	y.command(t, "dead-letters redrive", "--reason", "plan_violation")
	y.delivered(t, "/good", "Unplanned", 1)

	y.command(t, "destinations pause", "bad")
	if out, err := run(t, y.environment("destinations pause"), "destinations", "resume", "bad"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	router.stop(t)
	sink.stop(t)
	second := y.call(t, in, "Signed Up")
	router, sink = y.start(t, "router").ready(t), y.start(t, "webhook-sink").ready(t)
	y.delivered(t, "/good", second, 1)
	y.delivered(t, "/good", first, 1)
	if create { // topics of replays are the router's to create
		router.stop(t)
		router = y.replayed(t, second)
	}
	y.command(t, "status")
	if create {
		y.deleteTopics(t, schemas.TopicImports)
	}
	for range 2 { // the second reads how far the first came
		y.command(t, "import start", y.rows(t))
	}
	y.command(t, "trace", first)
	y.command(t, "test-send", "--event", first, "good")
	_, _ = run(t, y.environment("audit"), "audit") // which can't say for all, since topics were deleted
	y.command(t, "trace", "--last", "20", "--destination", "flaky")
	in.stop(t)
	router.stop(t)
	if create {
		y.repartition(t)
	}
	sink.stop(t)
}

// replayed has a call sent once more by a new router, and what a destination has missed.
func (y *yard) replayed(t *testing.T, id string) *stage {
	t.Helper()
	y.deleteTopics(t, schemas.TopicReplays)
	for range 2 { // the second reads what the first kept
		y.command(t, "replay plan", "--from", "1h")
	}
	y.deleteTopics(t, schemas.TopicReplays)
	y.command(t, "replay start", "--from", "1h", "--destination", "good")
	router := y.start(t, "router").ready(t)
	y.delivered(t, "/good", id, 2)
	y.command(t, "replay start", "--from", "1h", "--destination", "bad", "--only", "missing", "--wait")
	return router
}

// repartition gives raw-events more partitions as docs/brokers.md tells to: ingest
// and the router are stopped, and nothing waits.
func (y *yard) repartition(t *testing.T) {
	t.Helper()
	y.deleteTopics(t, schemas.TopicRawEvents)
	more := func(target string) *stage {
		env := y.environment(target)
		env["TOPIC_PARTITIONS"] = "4"
		return launch(t, target, env).ready(t)
	}
	in, router := more("ingest"), more("router")
	third := y.call(t, in, "Signed Up")
	y.delivered(t, "/good", third, 1)
	topics, err := y.admin(t).ListTopics(t.Context(), schemas.TopicRawEvents)
	if err != nil || len(topics[schemas.TopicRawEvents].Partitions) != 4 {
		t.Errorf("%s has %d partitions, want 4 (%v)", schemas.TopicRawEvents, len(topics[schemas.TopicRawEvents].Partitions), err)
	}
	in.stop(t)
	router.stop(t)
}

// deleteUser asks for a deletion and waits until the destinations know.
func (y *yard) deleteUser(t *testing.T, in *stage, user string) {
	t.Helper()
	status, text := ask(t, "http://"+in.admin+"/regulations",
		`{"regulationType":"SUPPRESS_WITH_DELETE","subjectType":"USER_ID","subjectIds":["`+user+`"]}`)
	if status != http.StatusOK {
		t.Fatalf("the request for deletion was answered %d %s", status, text)
	}
	id := regexp.MustCompile(`"regulateId":"([^"]+)"`).FindStringSubmatch(text)[1]
	y.delivered(t, "/good", `"type":"delete","userId":"`+user+`"`, 1)
	testkit.Until(t, func() bool {
		_, text := ask(t, "http://"+in.admin+"/regulations/"+id, "")
		return strings.Contains(text, `"FINISHED"`)
	}, "the deletion to be finished")
}

// nothingWasDenied: whatever the product asks for, the list allows. Asked how far a group is,
// brokers look at all that it reads, and leave out what the principal may not see.
func (y *yard) nothingWasDenied(t *testing.T) {
	t.Helper()
	for role, who := range y.who {
		for _, v := range y.verdicts(t, who.principal, y.since) {
			if !v.allowed && v.request != "OffsetFetch" {
				t.Errorf("%s was denied %s on %s %s (%s)", role, v.operation, v.resource, v.name, v.request)
			}
		}
	}
}

func used(r acl.Rule, seen []verdict) bool {
	for _, v := range seen {
		if v.concerns(r) {
			return true
		}
	}
	return false
}
