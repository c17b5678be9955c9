package console

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/ingest/imports"
	"github.com/anabranch/anabranch/internal/audit"
	"github.com/anabranch/anabranch/internal/console/internal/jobs"
	"github.com/anabranch/anabranch/internal/console/internal/tail"
	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/deadletters/listing"
	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/messagetrace"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/personas/ask"
	"github.com/anabranch/anabranch/router/replay"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/webhook-sink/answers"
	"github.com/anabranch/anabranch/webhook-sink/endpoints"
	"github.com/anabranch/anabranch/webhook-sink/testsend"
)

const (
	local  = "127.0.0.1:50000"
	remote = "192.0.2.7:50000"
	token  = schemas.Secret("zqAdminToken7")
	crmURL = "https://user:zqPassword@crm.example.com/hooks?key=zqQuery"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// sample is a report with something in each of its parts.
func sample() *status.Report {
	ago := func(d time.Duration) *time.Time { return new(noon.Add(-d)) }
	r := &status.Report{
		At: noon, Brokers: []string{"kafka-1:9092"},
		Stages: []status.Stage{
			{Name: "router", Group: "anabranch-router", Members: []status.Member{}, Unread: []status.Unread{
				{Topic: "raw-events", Waiting: status.Backlog{Events: 1_204, Bound: status.AtMost, Oldest: ago(95 * time.Second)}},
			}},
			{Name: "personas", Group: "anabranch-personas", State: "PreparingRebalance", Members: []status.Member{{ID: "personas-7c0d", Host: "10.0.0.5"}}},
			{Name: "webhook-sink", Group: "anabranch-webhook-sink", State: "Stable", Members: []status.Member{
				{Instance: "webhook-sink-a", Host: "10.0.0.4", Partitions: map[string]int{"deliver": 12, "webhook-retry": 42}},
			}},
		},
		Destinations: []status.Destination{
			{
				ID: "crm", State: status.Enabled, Undelivered: status.Backlog{Events: 17, Bound: status.AtMost, Oldest: ago(2 * time.Minute)},
				Retrying: status.Backlog{Events: 1_187, Bound: status.AtLeast, Oldest: ago(118 * time.Minute)}, Withheld: 900, FailingSince: ago(118 * time.Minute),
				Failures:  []status.Failure{{Reason: schemas.ReasonStatus5xx, Detail: "endpoint answered 503", Events: 1_180}},
				Endpoints: []status.Endpoint{{URL: "https://crm.example.com/hooks", Events: 1_187}},
				Due:       []status.Due{{Within: "0s", Events: 2}, {Within: "1m", Events: 400}, {Within: "5m", Events: 800}, {}},
				Busy:      []status.BusyPartition{{Partition: 4, Keys: 2, Events: 1_150}}, Replaying: status.Backlog{Events: 40, Bound: status.AtMost},
				Export: &status.Export{Topic: "exports.crm", Partitions: 6, Events: 1_204},
			},
			{ID: "mail", State: status.Enabled},
			{ID: "old", State: status.Removed, Undelivered: status.Backlog{Events: 1, Bound: status.Exact, Oldest: ago(time.Second)}},
		},
		Retries: []status.Retry{
			{Delay: "5s", Waiting: status.Backlog{Bound: status.Exact}},
			{Delay: "8m", Waiting: status.Backlog{Events: 1_250, Bound: status.AtMost, Oldest: ago(118 * time.Minute)}, Overdue: 40},
		},
		DeadLetters: status.DeadLetters{Since: noon.Add(-24 * time.Hour), Bound: status.Exact, Groups: []status.DeadGroup{
			{Destination: "mail", Reason: schemas.ReasonStatus4xx, Events: 12, Redriven: 2, First: noon.Add(-20 * time.Hour), Last: noon.Add(-time.Hour), Detail: "endpoint answered 410"},
		}},
		LastHour: &audit.Glance{From: noon.Add(-time.Hour), To: noon, Accepted: 120_400, Delivered: 118_000, Filtered: 1_090, Duplicate: 20, Dead: 12, OnTheWay: 1_278, Missing: 3, Complete: true},
	}
	r.Advice = status.Advise(r, 4*time.Hour)
	return r
}

func sampleWay() pipeline.Way {
	return pipeline.Way{Router: "anabranch-router", Sink: "anabranch-webhook-sink"}
}

func sampleWorkspace() *workspace.Live {
	return workspace.NewLive((&workspace.Document{
		Sources: []workspace.Source{{ID: "website", Name: "Web site", Enabled: true}, {ID: "app", Name: "App"}},
		Destinations: []workspace.Destination{
			{ID: "crm", Type: workspace.TypeWebhooks, Name: "CRM", Enabled: true, Sources: []string{"website"}, SharedSecret: "zqShared", Endpoints: []workspace.Endpoint{
				{URL: crmURL, Headers: []workspace.Header{{Name: "Authorization", Value: "zqHeader"}}},
			}},
			{ID: "mail", Type: workspace.TypeWebhooks, Name: "Mail", Enabled: true, Sources: []string{"website", workspace.SourcePersonas}},
		},
		Audiences: []workspace.Audience{{Audience: sampleAudience("7d"), Edition: workspace.Edition{
			Version: 2, Applied: noon, Earlier: []workspace.Earlier{{Version: 1, Definition: sampleJSON("1d")}},
		}}},
	}).Snapshot())
}

// sampleAudience is one of those who have bought within a time.
func sampleAudience(within string) definition.Audience {
	a, err := definition.ParseAudience(fmt.Appendf(nil, `{"id":"buyers","when":{"did":"Order Completed","within":%q}}`, within))
	if err != nil {
		panic(err)
	}
	return a
}

func sampleJSON(within string) []byte {
	a := sampleAudience(within)
	return a.JSON()
}

// samplePersonas are answers about audiences and traits.
func samplePersonas(text string) PersonasQuestions {
	value, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	summary := ask.Summary{Key: "buyers", Kind: "audience", Name: text, Version: 2, Phase: ask.Filling, Size: 1_204, Entered: 12, Left: 3, Done: 1, Total: 4, ETA: &noon}
	leaf := &ask.Node{Node: "did: " + text, Value: value, Threshold: "gte 2", FlipsAt: &noon, MessageIDs: []string{text}}
	return PersonasQuestions{
		List: func(context.Context, func(string)) ([]ask.Summary, error) { return []ask.Summary{summary}, nil },
		Show: func(context.Context, string, func(string)) (*ask.Details, error) {
			return &ask.Details{
				Summary: summary, Partitions: []ask.Progress{{Partition: 3, Phase: ask.Filling, Done: 1, Total: 4, ETA: &noon}},
				Versions: []ask.Version{{Version: 2, Applied: &noon, Definition: sampleJSON("7d")}, {Version: 1, Definition: sampleJSON("1d")}},
			}, nil
		},
		Members: func(context.Context, MembersOf, func(string)) (*Members, error) {
			return &Members{Users: []ask.Member{{UserID: text, Since: noon}}, More: true}, nil
		},
		Profile: func(context.Context, string, func(string)) (*ask.Profile, error) {
			return &ask.Profile{
				UserID: text, Traits: map[string]json.RawMessage{"n": json.RawMessage("9007199254740993"), text: value}, Computed: map[string]json.RawMessage{"orders": value},
				Audiences: map[string]ask.Membership{"buyers": {Member: true, Since: noon}}, Sources: []string{text}, Links: []string{text}, Refused: []string{text},
				FirstSeen: &noon, LastSeen: &noon, MergedInto: text, Deleted: text, AsOf: noon,
			}, nil
		},
		Explain: func(context.Context, ExplainOf, func(string)) (*ask.Explanation, error) {
			return &ask.Explanation{Key: "buyers", UserID: text, Tree: &ask.Node{Node: "all", Children: []*ask.Node{leaf}}, AsOf: noon, Deleted: 1_204}, nil
		},
		History: func(context.Context, HistoryOf, func(string)) (*History, error) {
			return &History{All: 1, Newest: []ask.Told{{At: noon, UserID: text, Key: "buyers", Kind: "audience", Value: value, Version: 2, Cause: "event", MessageID: text}}}, nil
		},
		Growth: func(context.Context, GrowthOf, func(string)) (*Growth, error) { return sampleGrowth(), nil },
		Preview: func(context.Context, string, func(string)) (*ask.Preview, error) {
			return &ask.Preview{Definitions: []ask.Difference{{Key: "buyers", Kind: "audience", Version: 2, Enter: 1_204, Sample: []ask.Reason{{UserID: text, Value: value, Tree: leaf}}}}}, nil
		},
		Check: func(context.Context, func(string)) (*ask.Verdict, error) {
			return &ask.Verdict{Users: 3, Differences: 1, Checked: []string{"buyers"}, Wrong: []ask.Wrong{{UserID: text, Key: "buyers", Told: value, True: value, Detail: text}}}, nil
		},
		Resync: func(_ context.Context, of ask.Resyncing, say func(string)) (string, error) {
			say(text)
			if of.DryRun {
				return "would tell 3 of 12 users " + text, nil
			}
			return "told 12 of 12 users " + text, nil
		},
	}
}

// sampleCall is one of a number beyond 2^53.
func sampleCall(text string) *tail.Call { return tail.NewCall(sampleRecord(0, text)) }

func sampleRecord(i int, text string) *kgo.Record {
	name, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	r := &kgo.Record{
		Topic: schemas.TopicRawEvents, Partition: 3, Offset: 1_704 + int64(i), Key: []byte(text), Timestamp: noon.Add(time.Duration(i) * time.Millisecond),
		Value: fmt.Appendf(nil, `{"event":%s,"properties":{"n":9007199254740993}}`, name),
	}
	kafka.SetHeaders(r, &schemas.Headers{Source: "website", Type: schemas.TypeTrack, MessageID: text, Origin: schemas.OriginAPI})
	return r
}

// questionsAbout are questions that have been answered, with a text wherever a caller has a
// say.
func questionsAbout(text string) Questions {
	return Questions{
		Status:    func(context.Context, func(string)) (*status.Report, error) { return sample(), nil },
		Deletions: func(context.Context) (*Deletions, error) { return sampleDeletions(text), nil },
		Letters: func(_ context.Context, of LettersOf, _ func(string)) (*Letters, error) {
			found := &Letters{Read: 3}
			for i := range 3 {
				found.take(of, sampleLetter(i, text))
			}
			return found, nil
		},
		Letter: func(context.Context, deadletters.ID) (*Letter, error) {
			letter := newLetter(sampleLetter(0, text))
			letter.Body = listing.Pretty(sampleLetter(0, text).Record.Value, math.MaxInt)
			return letter, nil
		},
		Personas: samplePersonas(text),
		Newest: func(context.Context, tail.Wanted, func(string)) ([]*tail.Call, error) {
			return []*tail.Call{sampleCall(text)}, nil
		},
		Call: func(context.Context, CallAt) (*tail.Call, error) { return sampleCall(text), nil },
		Follow: func(ctx context.Context, _ tail.From, _ tail.Feed) error {
			<-ctx.Done()
			return ctx.Err()
		},
		Redrive: func(_ context.Context, _ RedriveOf, dryRun bool, say func(string)) (string, error) {
			say(text)
			if dryRun {
				return "would redrive 10 of 12 dead letters " + text, nil
			}
			return "redriven 10 of 12 dead letters " + text, nil
		},
		Past:     func(context.Context) (*Past, error) { return samplePast(text), nil },
		Forecast: func(context.Context, ReplayOf, func(string)) (*replay.Forecast, error) { return sampleForecast(), nil },
		Send: func(_ context.Context, _ SendOf, say func(string)) (*testsend.Report, error) {
			say(text)
			return sampleTest(text), nil
		},
		WorkspaceHistory: func(context.Context) (*WorkspaceHistory, error) { return sampleWorkspaceHistory(text), nil },
		Violations: func(context.Context, ViolationsOf, func(string)) (*Violations, error) {
			return sampleViolations(text), nil
		},
		Trace: func(context.Context, CallOf, func(string)) (*messagetrace.Trace, error) {
			return sampleTrace(text), nil
		},
		Events: func(context.Context, EventsOf, func(string)) ([]messagetrace.Event, error) {
			return []messagetrace.Event{
				{At: noon, MessageID: text, Source: text, Type: "track", User: text, Destination: "crm", Verdict: "retried", Reason: schemas.ReasonStatus5xx, Attempts: 2, MS: 1_204},
			}, nil
		},
	}
}

// samplePast has a run that goes on, one that is done, and two imports.
func samplePast(text string) *Past {
	run := func(id string, wish replay.Wish) replay.Run {
		return replay.Run{
			ID: id, Wish: wish, Rate: 500, Choice: replay.Choice{Event: text, User: text}, Destinations: []string{"crm"}, To: noon, CreatedAt: noon,
			Ranges: map[int32]replay.Offsets{0: {From: 100, To: 300}},
		}
	}
	part := replay.Part{State: replay.Done, Next: map[int32]int64{0: 300}, Sent: 1_204, Left: map[replay.Reason]int64{replay.Copy: 3}}
	half := part
	half.State, half.Next, half.ActiveMs = replay.Open, map[int32]int64{0: 200}, 60_000
	return &Past{
		Runs: []*replay.Entry{
			{Run: run("r1", replay.Running), Parts: map[string]*replay.Part{"crm": &part}},
			{Run: run("r2", replay.Running), Parts: map[string]*replay.Part{"crm": &half}, Claim: replay.Claim{Token: "t", Trouble: map[string]string{"crm": text}}},
		},
		Imports: []imports.Listed{
			{Digest: "d1", Entry: imports.Entry{File: text, Source: "website", Done: true, StartedAt: noon, UpdatedAt: noon}},
			{Digest: "d2", Entry: imports.Entry{File: "more.ndjson", Source: "website", StartedAt: noon, UpdatedAt: noon}},
		},
	}
}

func sampleForecast() *replay.Forecast {
	return &replay.Forecast{
		Run: &replay.Run{To: noon, Rate: 1}, Events: 2_000, First: noon.Add(-time.Hour), Last: noon, Journal: true, Seconds: 1_000,
		Destinations: map[string]*replay.Expected{"crm": {
			Send: 1_000, ByType: map[schemas.Type]int64{schemas.TypeTrack: 990, schemas.TypePage: 10}, Left: map[replay.Reason]int64{replay.Copy: 7, replay.Unwanted: 993},
			Missing: 900, Again: 100, Gone: 4, Unknown: 0,
		}},
	}
}

// sampleTest is a test of two endpoints, of which one took it.
func sampleTest(text string) *testsend.Report {
	request := []testsend.Field{{Value: "POST /hooks?[redacted] HTTP/1.1"}, {Name: "X-Key", Value: "[redacted]"}}
	return &testsend.Report{Destination: "crm", MessageID: "m1", Body: `{"event":"` + text + `"}`, Disabled: true, Deliveries: []testsend.Delivery{
		{Endpoint: 1, URL: "https://crm.example.com/hooks", Request: request, Response: []testsend.Field{{Value: "HTTP/1.1 200 OK"}}, Answer: "ok", MS: 17, Verdict: "delivered", Delivered: true},
		{Endpoint: 2, URL: "https://crm.example.com/other", Request: request, Response: []testsend.Field{{Value: "HTTP/1.1 400 No"}, {Name: "X-Said", Value: text}}, Answer: text, Verdict: "would become a dead letter: endpoint answered 400", Reason: "status_4xx"},
		{Endpoint: 3, URL: "https://crm.example.com/none", Verdict: "would be retried: no response in time", Reason: "timeout"},
	}}
}

// bookAbout is what the endpoint of crm has said.
func bookAbout(text string) *answers.Book {
	crm, _ := sampleWorkspace().Load().Destination("crm")
	book := answers.New(answers.MostBytes)
	for i := range 2 {
		book.Keep("crm", crm.Endpoints[0].Fingerprint(), answers.Answer{At: noon.Add(time.Duration(i) * time.Second), MessageID: text, Status: 503, MS: 1_204, Body: text})
	}
	return book
}

// testOfTest is the one test that a console has for a test.
func testOfTest(t *testing.T, c *Console) string {
	t.Helper()
	for _, job := range c.jobs.All() {
		if job.Shows != nil {
			return job.ID
		}
	}
	report := new(atomic.Pointer[testsend.Report])
	id, err := c.jobs.Start(t.Context(), jobs.Job{Kind: "test-send crm", What: "a test", By: "ada", Shows: report}, func(ctx context.Context, say func(string)) (string, error) {
		came, err := c.Questions.Send(ctx, SendOf{}, say)
		report.Store(came)
		return "", err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func sampleDeletions(text string) *Deletions {
	return &Deletions{Suppressed: 1_204, Requests: []regulation.Regulation{
		{ID: "r2", Type: regulation.DeleteOnly, Status: regulation.Running, CreatedAt: noon, Subjects: 1_000, Notified: 999, Sources: []string{"website", "app"}},
		{ID: "r1", Type: regulation.SuppressOnly, Status: regulation.Failed, CreatedAt: noon.Add(-time.Hour), FinishedAt: noon, Subjects: 1, Reason: text},
	}}
}

// sampleLetter is a dead letter of an event with a number beyond 2^53.
func sampleLetter(i int, text string) *deadletters.Letter {
	name, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	h := schemas.Headers{
		Source: "website", Type: schemas.TypeTrack, MessageID: "m" + strconv.Itoa(i), Origin: schemas.OriginAPI, Destination: "mail",
		Attempt: 3, FirstAttempt: noon.Add(-time.Hour), Reason: schemas.ReasonStatus4xx, Detail: text, Answer: []byte(text), FailedAt: noon.Add(time.Duration(i) * time.Second),
	}
	return &deadletters.Letter{ID: deadletters.ID{Partition: 1, Offset: 704 + int64(i)}, Headers: h, Record: &kgo.Record{
		Key: []byte(text), Value: fmt.Appendf(nil, `{"event":%s,"properties":{"n":9007199254740993}}`, name),
		Headers: []kgo.RecordHeader{{Key: text, Value: []byte(text)}},
	}}
}

func sampleTrace(text string) *messagetrace.Trace {
	later := noon.Add(time.Minute)
	return &messagetrace.Trace{
		MessageID: text, Suppressed: true, Notes: []string{text}, Searched: messagetrace.Searched{From: noon, To: later, Partitions: 1, Of: 6, Records: 1_204},
		Calls: []messagetrace.Call{{
			Source: text, Type: schemas.TypeTrack, ReceivedAt: noon, Event: text, User: text, Origin: schemas.OriginAPI, ClientAddress: text, Bytes: 1_204,
			Record: "raw-events[3]@1704", RoutedAt: &later, Violations: []messagetrace.Violation{{Path: text, Message: text}}, Notes: []string{text},
			Destinations: []messagetrace.Destination{
				{ID: "crm", Outcome: messagetrace.Delivered, Attempts: []messagetrace.Attempt{
					{At: later, Endpoint: text, Status: "5xx", Verdict: "retried", Number: 1, Reason: schemas.ReasonStatus5xx, Until: &later},
					{At: later, Endpoint: "crm.example.com", Status: "2xx", Verdict: "delivered", MS: 17, Number: 2},
				}},
				{ID: "mail", Outcome: messagetrace.Dead, Reason: "status_4xx", DeadLetters: []messagetrace.DeadLetter{{ID: "1-704", At: later, Reason: schemas.ReasonStatus4xx, Detail: text}}},
				{ID: "old", Outcome: messagetrace.Filtered, Reason: text, Notes: []string{text}},
			},
		}},
	}
}

// sampleEndpoints are down, each for a minute.
func sampleEndpoints(d *workspace.Destination) (all []endpoints.Endpoint) {
	for i, e := range d.Endpoints {
		all = append(all, endpoints.Endpoint{
			Position: i + 1, URL: e.SafeURL(), State: endpoints.Down, Why: "status_5xx", Detail: "endpoint answered 503", Next: time.Now().Add(time.Minute),
			Figures: endpoints.Figures{Attempts: 1_204, Failed: 1_180, Median: 12 * time.Millisecond, Slow: 1_900 * time.Millisecond, Of: 64},
		})
	}
	return all
}

// newConsole returns one that is open, and whose questions have answers, with some changes.
func newConsole(t *testing.T, change func(*Settings)) *Console {
	t.Helper()
	set := Settings{
		Logger: slog.New(slog.DiscardHandler), Version: "v1.2.3", Workspace: sampleWorkspace(), Open: true, Token: token,
		PersonHeader: "X-Forwarded-User",
		Questions:    questionsAbout("Signed Up"), Way: sampleWay(), Sink: true, Answers: bookAbout("Signed Up"), Endpoints: sampleEndpoints,
	}
	if change != nil {
		change(&set)
	}
	c := New(set)
	t.Cleanup(func() {
		c.tails.Close()
		c.jobs.Close()
		c.asked.close()
	})
	return c
}

// request is one as the browser on the same machine sends it, with header fields.
func request(t *testing.T, method, target, body string, fields ...string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost:8081"+target, strings.NewReader(body))
	r.RemoteAddr = local
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	return r
}

// serve returns the answer to a request.
func serve(c *Console, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	c.Handler().ServeHTTP(w, r)
	return w
}

// look returns a page that has to be there.
func look(t *testing.T, c *Console, target string) string {
	t.Helper()
	w := serve(c, request(t, http.MethodGet, target, ""))
	if w.Code != http.StatusOK {
		t.Fatalf("%s was answered %d: %s", target, w.Code, w.Body)
	}
	return w.Body.String()
}

// jobOfTest is the one job that a console has for a test.
func jobOfTest(t *testing.T, c *Console) string {
	t.Helper()
	for _, job := range c.jobs.All() {
		if job.Shows == nil {
			return job.ID
		}
	}
	id, err := c.jobs.Start(t.Context(), jobs.Job{Kind: "test", What: "a job", By: "ada"}, func(context.Context, func(string)) (string, error) {
		return "done", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// targets is one for each page.
func targets(t *testing.T, c *Console) map[string]string {
	t.Helper()
	queries := map[string]string{
		"/replay": "?id=r2", "/replay/plan": "?from=24h&destination=crm",
		"/call": "?at=3-1704", "/persona": "?key=buyers&from=1&to=2", "/members": "?key=buyers", "/profile": "?user=u1", "/explain": "?key=buyers&user=u1",
		"/history": "?name=buyers", "/growth": "?key=buyers", "/preview": "?written=%7Bid%3A+x%2C+when%3A+%7Bdid%3A+y%7D%7D", "/check": "?run=1", "/resync": "?key=buyers&destination=mail",
		"/redrive": "?destination=mail&since=1h", "/job": "?id=" + jobOfTest(t, c), "/test-send": "?id=" + testOfTest(t, c),
		"/destination": "?id=crm", "/events": "?user=u1", "/event": "?id=m1&user=u1", "/dead-letter": "?id=1-704",
	}
	all := make(map[string]string)
	for _, p := range c.pages() {
		all[p.path] = Path + strings.TrimSuffix(p.path, "{$}") + queries[p.path]
	}
	return all
}

// newBrokers is a cluster without anything on it.
func newBrokers(t *testing.T) *Brokers {
	t.Helper()
	cluster := testkit.Brokers(t)
	config := policy.Config{Partitions: 2, DeliverPartitions: 3, Replication: -1, RawRetention: 48 * time.Hour}
	return &Brokers{
		Kafka: cluster.Options(), Topics: topics.New(cluster.Client(t), config), Addresses: cluster.Addrs, Workspace: sampleWorkspace(),
	}
}
