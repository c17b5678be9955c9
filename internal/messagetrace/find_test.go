package messagetrace_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/messagetrace"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
	"github.com/anabranch/anabranch/test/testkit"
)

const (
	routers    = schemas.OwnPrefix + "router"
	sinks      = schemas.OwnPrefix + "webhook-sink"
	retries    = schemas.RetryPrefix + "5s"
	partitions = 3
)

// past is what stages have left behind on a broker.
type past struct {
	*testkit.Cluster

	t      *testing.T
	cl     *kgo.Client
	prints *journal.Prints
	users  *regulation.Register
	log    *messagetrace.Log
}

func newPast(t *testing.T) *past {
	t.Helper()
	c := testkit.Brokers(t)
	c.CreateTopics(t, partitions, schemas.TopicRawEvents, schemas.TopicJournal, schemas.TopicDeadLetters, schemas.DeliverTopic("crm"), schemas.ReplayTopic("crm"), retries)
	c.CreateTopics(t, 1, schemas.TopicRedriven, schemas.TopicWorkspace, schemas.TopicRegulations)
	p := &past{Cluster: c, t: t, users: regulation.NewRegister(nil, nil)}
	p.cl = c.Client(t, kgo.RecordPartitioner(journal.Partitioner(kgo.StickyKeyPartitioner(nil))))
	admin := topics.New(p.cl, policy.Config{})
	var err error
	if p.prints, err = journal.FindPrints(t.Context(), admin); err != nil {
		t.Fatal(err)
	}
	crm := workspace.Destination{ID: "crm", Type: workspace.TypeWebhooks, Sources: []string{"web"}, Enabled: true, Endpoints: []workspace.Endpoint{{URL: "https://u:hunter2@crm.example.com/hook/s3cret?token=t0ken"}}}
	p.log = &messagetrace.Log{
		Topics: admin, Router: routers, Sink: sinks,
		Workspace: workspace.NewSnapshot([]workspace.Source{{ID: "web", Enabled: true}}, []workspace.Destination{crm}),
		Users:     func(context.Context) (*regulation.Register, error) { return p.users, nil },
	}
	return p
}

// write writes a record, with what it needs of headers.
func (p *past) write(topic, key string, h schemas.Headers) *kgo.Record {
	p.t.Helper()
	r := &kgo.Record{Topic: topic, Key: []byte(key), Value: []byte(`{"type":"track","event":"Signed Up","context":{"ip":"203.0.113.9","protocols":{"violations":[{"path":"properties.plan","message":"found a number, expected a string"}]}}}`)}
	if h.Source == "" {
		h.Source, h.Type = "web", schemas.TypeTrack
	}
	kafka.SetHeaders(r, &h)
	p.produce(r)
	return r
}

func (p *past) produce(r *kgo.Record) {
	p.t.Helper()
	if err := p.cl.ProduceSync(p.t.Context(), r).FirstErr(); err != nil {
		p.t.Fatal(err)
	}
}

// call is one on raw-events.
func (p *past) call(key, messageID string) *kgo.Record {
	p.t.Helper()
	return p.write(schemas.TopicRawEvents, key, schemas.Headers{MessageID: messageID})
}

// routed has the journal tell what became of a call, and the router commit past it.
func (p *past) routed(r *kgo.Record, result format.CallResult, decisions ...format.Decision) {
	p.t.Helper()
	head := p.head("router", r)
	var calls format.Calls
	calls.Add(&format.Call{Offset: r.Offset, Fingerprint: p.prints.Of(r), Source: "web", Result: result, Decisions: decisions})
	p.produce(journal.Record(&head, calls.Append(nil, &head)))
	p.commit(routers, r)
}

// tried has the journal tell how an attempt ended.
func (p *past) tried(r *kgo.Record, a format.Attempt) {
	p.t.Helper()
	head := p.head("webhook-sink", r)
	a.Offset, a.Fingerprint, a.Source, a.Destination, a.Endpoints = r.Offset, p.prints.Of(r), "web", "crm", 1
	if a.At.IsZero() {
		a.At = time.Now()
	}
	var attempts format.Attempts
	attempts.Add(&a)
	p.produce(journal.Record(&head, attempts.Append(nil, &head)))
	p.commit(sinks, r)
}

func (p *past) head(stage string, r *kgo.Record) format.Head {
	return format.Head{Stage: stage, Topic: r.Topic, Partition: r.Partition, From: r.Offset, Next: r.Offset + 1, KeyID: p.prints.KeyID(), Base: time.Now()}
}

// commit says that a group is past a record.
func (p *past) commit(group string, r *kgo.Record) {
	p.t.Helper()
	var to kadm.Offsets
	to.AddOffset(r.Topic, r.Partition, r.Offset+1, -1)
	if err := kadm.NewClient(p.cl).CommitAllOffsets(p.t.Context(), group, to); err != nil {
		p.t.Fatal(err)
	}
}

// buried writes the dead letter of a record.
func (p *past) buried(r *kgo.Record, reason schemas.Reason, destination string) *kgo.Record {
	p.t.Helper()
	h, err := kafka.HeadersOf(r)
	if err != nil {
		p.t.Fatal(err)
	}
	h.Reason, h.Destination, h.Detail = reason, destination, "endpoint answered 400"
	dead := kafka.DeadLetter(r, h, time.Now())
	p.produce(dead)
	return dead
}

// find traces a call, with its user or without, which has to come to the same.
func (p *past) find(messageID, user string) *messagetrace.Trace {
	p.t.Helper()
	var traces []*messagetrace.Trace
	var texts []string
	for _, by := range []string{"", user} {
		trace, err := messagetrace.Find(p.t.Context(), p.log, messagetrace.Query{MessageID: messageID, User: by, Since: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour)})
		if err != nil {
			p.t.Fatal(err)
		}
		var text bytes.Buffer
		if err := messagetrace.Print(&text, trace); err != nil {
			p.t.Fatal(err)
		}
		traces, texts = append(traces, trace), append(texts, text.String())
	}
	if texts[0] != texts[1] {
		p.t.Errorf("%s without its user:\n%swith it:\n%s", messageID, texts[0], texts[1])
	}
	for _, secret := range []string{"hunter2", "s3cret", "t0ken"} {
		if strings.Contains(texts[0], secret) {
			p.t.Errorf("the secret %s is shown:\n%s", secret, texts[0])
		}
	}
	return traces[1]
}

// outcomes are what became of the calls of a trace, in few words.
func outcomes(trace *messagetrace.Trace) string {
	var all []string
	for i := range trace.Calls {
		for _, d := range trace.Calls[i].Destinations {
			words := []string{d.ID, string(d.Outcome)}
			for _, a := range d.Attempts {
				words = append(words, a.Verdict)
			}
			for _, l := range d.DeadLetters {
				words = append(words, "buried")
				if l.RedrivenAt != nil {
					words = append(words, "redriven")
				}
			}
			all = append(all, strings.Join(words, " "))
		}
		all = append(all, trace.Calls[i].Notes...)
	}
	return strings.Join(all, "; ")
}

func (p *past) check(messageID, user, want string) {
	p.t.Helper()
	if got := outcomes(p.find(messageID, user)); got != want {
		p.t.Errorf("%s of %s: %q, want %q", messageID, user, got, want)
	}
}

// checkReplays looks at what replays sent, in few words.
func (p *past) checkReplays(messageID, user, want string) {
	p.t.Helper()
	var all []string
	for _, c := range p.find(messageID, user).Calls {
		for _, r := range c.Replays {
			words := []string{r.Run, r.ID, string(r.Outcome)}
			for _, a := range r.Attempts {
				words = append(words, a.Verdict)
			}
			for range r.DeadLetters {
				words = append(words, "buried")
			}
			if r.WaitingOn != "" {
				words = append(words, "on", r.WaitingOn)
			}
			all = append(all, strings.Join(words, " "))
		}
	}
	if got := strings.Join(all, "; "); got != want {
		p.t.Errorf("replays of %s of %s: %q, want %q", messageID, user, got, want)
	}
}

// TestFind traces calls whose ends differ, each among others of the same partitions.
func TestFind(t *testing.T) {
	p := newPast(t)
	deliver := schemas.DeliverTopic("crm")
	sent := format.Decision{Destination: "crm", Result: format.Sent}
	for i := range 60 {
		p.call(fmt.Sprint("other", i), fmt.Sprint("other-", i))
	}

	delivered := p.call("u1", "delivered")
	p.routed(delivered, format.Routed, sent, format.Decision{Destination: "erp", Result: format.Filtered, Why: "All"})
	first := p.write(deliver, "u1", schemas.Headers{MessageID: "delivered"})
	p.tried(first, format.Attempt{Outcome: format.Retried, Number: 1, Reason: schemas.ReasonStatus5xx, Until: time.Now(), Topic: retries})
	again := p.write(retries, "u1", schemas.Headers{MessageID: "delivered", Destination: "crm"})
	p.tried(again, format.Attempt{Outcome: format.Delivered, Number: 2, Took: 31 * time.Millisecond})
	p.check("delivered", "u1", "crm delivered retried delivered; erp filtered")

	p.routed(p.call("u1", "delivered"), format.Duplicate)
	p.check("delivered", "u1", "crm delivered retried delivered; erp filtered;  duplicate")

	waits := p.call("u2", "waits")
	p.routed(waits, format.Routed, sent)
	p.tried(p.write(deliver, "u2", schemas.Headers{MessageID: "waits"}), format.Attempt{Outcome: format.Retried, Number: 1, Reason: schemas.ReasonTimeout, Until: time.Now().Add(time.Hour), Topic: retries})
	p.check("waits", "u2", "crm waiting retried")

	dies := p.call("u3", "dies")
	p.routed(dies, format.Routed, sent)
	last := p.write(deliver, "u3", schemas.Headers{MessageID: "dies"})
	letter := p.buried(last, schemas.ReasonStatus4xx, "crm")
	p.tried(last, format.Attempt{Outcome: format.Dead, Number: 1, Reason: schemas.ReasonStatus4xx})
	p.check("dies", "u3", "crm dead dead buried")
	mark, err := deadletters.Mark(&deadletters.Letter{ID: deadletters.ID{Partition: letter.Partition, Offset: letter.Offset}, Record: letter}, time.Now(), false)
	if err != nil {
		t.Fatal(err)
	}
	p.produce(mark)
	p.check("dies", "u3", "crm waiting dead buried redriven")
	p.tried(p.write(deliver, "u3", schemas.Headers{MessageID: "dies", Origin: schemas.OriginReplay}), format.Attempt{Outcome: format.Delivered, Number: 1})
	p.check("dies", "u3", "crm delivered dead delivered buried redriven")

	lane := schemas.ReplayTopic("crm")
	past := p.write(lane, "u3", schemas.Headers{MessageID: "dies", Origin: schemas.OriginReplay, Run: "run-1"})
	p.checkReplays("dies", "u3", "run-1 crm waiting on replay.crm")
	p.tried(past, format.Attempt{Outcome: format.Retried, Number: 1, Reason: schemas.ReasonTimeout, Until: time.Now(), Topic: retries, Run: "run-1"})
	p.checkReplays("dies", "u3", "run-1 crm waiting retried on "+retries)
	retried := p.write(retries, "u3", schemas.Headers{MessageID: "dies", Destination: "crm", Run: "run-1"})
	p.buried(retried, schemas.ReasonStatus4xx, "crm")
	p.tried(retried, format.Attempt{Outcome: format.Dead, Number: 2, Reason: schemas.ReasonStatus4xx, Run: "run-1"})
	p.tried(p.write(lane, "u3", schemas.Headers{MessageID: "dies", Run: "run-2"}), format.Attempt{Outcome: format.Delivered, Number: 1, Run: "run-2"})
	p.checkReplays("dies", "u3", "run-1 crm dead retried dead buried; run-2 crm delivered delivered")
	p.check("dies", "u3", "crm delivered dead delivered buried redriven")
	unknown := p.write(lane, "u1", schemas.Headers{MessageID: "delivered", Run: "run-3"})
	p.commit(sinks, unknown)
	p.checkReplays("delivered", "u1", "run-3 crm unknown")

	written := p.call("u8", "written")
	p.routed(written, format.Routed, sent, format.Decision{Destination: "warehouse", Result: format.Sent, Why: "shop.calls"})
	p.check("written", "u8", "crm waiting; warehouse delivered")
	p.CreateTopics(t, 1, "shop.calls")
	p.log = &messagetrace.Log{Topics: p.log.Topics, Router: routers, Sink: sinks, Workspace: p.log.Workspace}
	copied := p.write("shop.calls", "u8", schemas.Headers{MessageID: "written"})
	if got, want := p.find("written", "u8").Calls[0].Destinations[1].WrittenTo, fmt.Sprintf("shop.calls[0]@%d", copied.Offset); got != want {
		t.Errorf("written to %q, want %q", got, want)
	}

	p.routed(p.call("u4", "unheard"), format.Unconnected)
	p.check("unheard", "u4", " unconnected")
	p.write(schemas.TopicDeadLetters, "u5", schemas.Headers{MessageID: "blocked", Reason: schemas.ReasonPlanViolation, Detail: "properties.plan: found nothing", FailedAt: time.Now()})
	p.check("blocked", "u5", " dead buried")
	lost := p.call("u6", "unattempted")
	p.routed(lost, format.Routed, sent)
	event := p.write(deliver, "u6", schemas.Headers{MessageID: "unattempted"})
	p.check("unattempted", "u6", "crm waiting")
	p.commit(sinks, event)
	p.check("unattempted", "u6", "crm unknown")
	unrouted := p.call("u7", "unrouted")
	p.check("unrouted", "u7", " waiting")
	p.commit(routers, unrouted)
	if got := p.find("unrouted", "u7"); len(got.Calls) != 1 || len(got.Calls[0].Notes) != 1 {
		t.Errorf("of a router whose journal was off: %+v", got.Calls)
	}
}

// TestFindShowsTheCall as it came.
func TestFindShowsTheCall(t *testing.T) {
	p := newPast(t)
	p.routed(p.call("u1", "m1"), format.Unconnected)
	call := p.find("m1", "u1").Calls[0]
	if call.Source != "web" || call.Type != schemas.TypeTrack || call.Event != "Signed Up" || call.User != "u1" || call.ClientAddress != "203.0.113.9" ||
		call.Bytes == 0 || !strings.HasPrefix(call.Record, "raw-events[") || call.RoutedAt == nil ||
		!slices.Equal(call.Violations, []messagetrace.Violation{{Path: "properties.plan", Message: "found a number, expected a string"}}) {
		t.Errorf("the call: %+v", call)
	}
}

// TestFindNothing: what was searched is said, and what can't be known.
func TestFindNothing(t *testing.T) {
	p := newPast(t)
	p.call("u1", "m1")
	got := p.find("m2", "u1")
	if len(got.Calls) != 0 || got.Searched.Partitions != 1 || got.Searched.Of != partitions || got.Searched.Records != 1 {
		t.Errorf("found %+v", got)
	}
	if other, err := messagetrace.Find(t.Context(), p.log, messagetrace.Query{MessageID: "m1", User: "u2", Since: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour)}); err != nil || len(other.Calls) != 0 {
		t.Errorf("of another user: %+v, %v", other, err)
	}
	if err := p.users.Apply([]byte("suppression/bb82030dbc2bcaba32a90bf2e207a84a"), []byte("{}")); err != nil { // of u1
		t.Fatal(err)
	}
	if got, err := messagetrace.Find(t.Context(), p.log, messagetrace.Query{MessageID: "m2", User: "u1", Since: time.Now(), Until: time.Now()}); err != nil || !got.Suppressed {
		t.Errorf("of a suppressed user: %+v, %v", got, err)
	}
}

func TestLast(t *testing.T) {
	p := newPast(t)
	for i := range 5 {
		user, id := fmt.Sprint("u", i%2), fmt.Sprint("m", i)
		p.call(user, id)
		r := p.write(schemas.DeliverTopic("crm"), user, schemas.Headers{MessageID: id})
		a := format.Attempt{Outcome: format.Delivered, Number: 1, At: time.Now().Add(time.Duration(i) * time.Second)}
		if i == 3 {
			a.Outcome, a.Reason = format.Dead, schemas.ReasonTLS
		}
		p.tried(r, a)
	}
	for want, of := range map[string]messagetrace.Selection{
		"m4 delivered m3 dead": {Destination: "crm", Last: 2},
		"m3 dead":              {Reason: schemas.ReasonTLS, Last: 9},
		"":                     {Destination: "erp", Last: 9},
		"m3  m1 ":              {User: "u1", Last: 9},
	} {
		of.Since = time.Now().Add(-time.Hour)
		events, err := messagetrace.Last(t.Context(), p.log, of)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range events {
			got = append(got, e.MessageID+" "+e.Verdict)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("of %+v: %q, want %q", of, got, want)
		}
		if err := messagetrace.PrintEvents(new(bytes.Buffer), events); err != nil {
			t.Error(err)
		}
	}
}
