package console

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/apply"
	"github.com/anabranch/anabranch/internal/console/internal/jobs"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/messagetrace"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/personas/ask"
	"github.com/anabranch/anabranch/router/replay"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// many is how many destinations a large installation has, and how many of whatever else grows
// with it.
const many = 10_000

func largeID(i int) string { return fmt.Sprintf("destination-%05d", i) }

// largeWorkspace has destinations that are told of everything.
func largeWorkspace() *workspace.Live {
	doc := workspace.Document{Sources: []workspace.Source{{ID: "website", Name: "Web site", Enabled: true}}}
	for i := range many {
		doc.Destinations = append(doc.Destinations, workspace.Destination{
			ID: largeID(i), Type: workspace.TypeWebhooks, Name: fmt.Sprint("Customer ", i), Enabled: true, Sources: []string{"website", workspace.SourcePersonas},
			Endpoints: []workspace.Endpoint{{URL: fmt.Sprintf("https://hooks.example.com/customers/%d", i)}},
		})
	}
	doc.Audiences = []workspace.Audience{{Audience: sampleAudience("7d"), Edition: workspace.Edition{Version: 2, Applied: noon, Earlier: []workspace.Earlier{
		{Version: 1, Definition: sampleJSON("1d")},
	}}}}
	return workspace.NewLive(doc.Snapshot())
}

// largeReport has something to say of each destination.
func largeReport() *status.Report {
	r := sample()
	like := r.Destinations[0]
	r.Destinations, r.DeadLetters.Groups = nil, nil
	for i := range many {
		like.ID = largeID(i)
		r.Destinations = append(r.Destinations, like)
		r.DeadLetters.Groups = append(r.DeadLetters.Groups, status.DeadGroup{
			Destination: like.ID, Reason: schemas.ReasonStatus4xx, Events: 100, First: noon, Last: noon, Detail: "endpoint answered 410",
		})
	}
	r.Advice = status.Advise(r, 4*time.Hour)
	return r
}

// largeLetters are twenty of each destination.
func largeLetters(of LettersOf) *Letters {
	found := new(Letters)
	detail := strings.Repeat("the endpoint answered 410 ", 4)
	for i := range 2 * many {
		l := sampleLetter(i, detail)
		l.Headers.Destination, l.Record.Key = largeID(i%many), []byte("user-0123456789abcdef")
		found.Read++
		found.take(of, l)
	}
	return found
}

// largePast has runs to all destinations.
func largePast() *Past {
	past := samplePast("Signed Up")
	ids := make([]string, many)
	for i := range ids {
		ids[i] = largeID(i)
	}
	for i := range many / 100 {
		run := *past.Runs[1]
		run.Run.ID = fmt.Sprint("r", i)
		run.Run.Destinations = ids
		past.Runs = append(past.Runs, &run)
	}
	past.Runs[1].Run.Destinations = ids
	for range many {
		past.Imports = append(past.Imports, past.Imports[0])
	}
	return past
}

func largeForecast() *replay.Forecast {
	f := sampleForecast()
	like := f.Destinations["crm"]
	f.Destinations = make(map[string]*replay.Expected)
	for i := range many {
		f.Destinations[largeID(i)] = like
	}
	return f
}

// largeTrace is of a call that every destination got, but the last one.
func largeTrace() *messagetrace.Trace {
	t := sampleTrace("Signed Up")
	all := t.Calls[0].Destinations
	t.Calls[0].Destinations = nil
	for i := range many {
		one := all[0]
		if i == many-1 {
			one = all[1]
		}
		one.ID = largeID(i)
		t.Calls[0].Destinations = append(t.Calls[0].Destinations, one)
	}
	return t
}

// largeText is what a command prints that says something of each destination.
func largeText() string {
	var text strings.Builder
	for i := range many {
		fmt.Fprintf(&text, "  %s  status_4xx  100  would be redriven at a rate of 100 a second\n", largeID(i))
	}
	return text.String()
}

func largeQuestions() Questions {
	q := questionsAbout("Signed Up")
	report, past, trace, text := largeReport(), largePast(), largeTrace(), largeText()
	q.Status = func(context.Context, func(string)) (*status.Report, error) { return report, nil }
	q.Letters = func(_ context.Context, of LettersOf, _ func(string)) (*Letters, error) { return largeLetters(of), nil }
	q.Past = func(context.Context) (*Past, error) { return past, nil }
	q.Forecast = func(context.Context, ReplayOf, func(string)) (*replay.Forecast, error) { return largeForecast(), nil }
	q.Trace = func(context.Context, CallOf, func(string)) (*messagetrace.Trace, error) { return trace, nil }
	q.Redrive = func(context.Context, RedriveOf, bool, func(string)) (string, error) { return text, nil }
	q.Events = func(_ context.Context, of EventsOf, _ func(string)) (events []messagetrace.Event, err error) {
		for range of.Last {
			events = append(events, messagetrace.Event{At: noon, MessageID: "0193f1b2-7c60-7d0a-9d3e-2f3b1c4d5e6f", Source: "website", Type: "track", User: "user-0123456789abcdef", Destination: largeID(0), Verdict: "delivered"})
		}
		return events, nil
	}
	q.Deletions = func(context.Context) (*Deletions, error) {
		all := sampleDeletions("its sources are gone")
		for range many {
			all.Requests = append(all.Requests, regulation.Regulation{ID: "0193f1b2-7c60-7d0a-9d3e-2f3b1c4d5e6f", Type: regulation.DeleteOnly, Subjects: 1_000, CreatedAt: noon})
		}
		return all, nil
	}
	listed, err := q.Personas.List(context.Background(), nil)
	q.Personas.List = func(context.Context, func(string)) (all []ask.Summary, _ error) {
		for i := range many {
			one := listed[0]
			one.Key = fmt.Sprintf("audience-%05d", i)
			all = append(all, one)
		}
		return all, err
	}
	told, err := q.Personas.History(context.Background(), HistoryOf{}, nil)
	q.Personas.History = func(context.Context, HistoryOf, func(string)) (*History, error) {
		all := &History{All: 1_000_000}
		for range mostTold {
			all.Newest = append(all.Newest, told.Newest...)
		}
		return all, err
	}
	return q
}

// TestEveryPageOfALargeInstallation: what is shown of ten thousand destinations, and of all that
// grows with them, is a page of it with how many there are.
func TestEveryPageOfALargeInstallation(t *testing.T) {
	t.Parallel()
	c := newConsole(t, func(set *Settings) { set.Questions, set.Workspace = largeQuestions(), largeWorkspace() })
	id, err := c.jobs.Start(t.Context(), jobs.Job{Kind: "redrive"}, func(context.Context, func(string)) (string, error) { return largeText(), nil })
	if err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, func() bool { job, _ := c.jobs.Get(id); return !job.Running() }, "the job to end")
	all := targets(t, c)
	maps.Copy(all, map[string]string{
		"/destination": Path + "/destination?id=" + largeID(7), "/history": Path + "/history?name=buyers", "/events": Path + "/events?user=u1&last=1000",
		"/workspace, destinations": Path + "/workspace?kind=destination", "/workspace/plan": workspacePlanPath(c.plans.hold(&heldPlan{WorkspacePlan: largePlan()})),
	})
	counted := map[string]string{ // that there are more
		"/{$}": "9,992 more destinations", "/destinations": "10,000 of 10,000 destinations", "/dead-letters": "And 9,950 more destinations and reasons",
		"/replays": "and 9,992 more", "/replay": "10,000 found", "/replay/plan": "10,000,000 to 10,000 destinations", "/redrive": "Page 1 of 25",
		"/job": "Page 1 of 25", "/event": "9,950 delivered", "/history": "The newest 1,000 of 1,000,000", "/workspace/plan": "Page 1 of 25",
		"/personas": "Page 1 of 200", "/deletions": "Page 1 of 201", "/workspace, destinations": "Page 1 of 200", "/events": "Page 1 of 20",
	}
	for path, target := range all {
		page := ""
		testkit.Until(t, func() bool {
			page = look(t, c, target)
			return !strings.Contains(page, `class="asking"`)
		}, "the answer of "+path)
		if len(page) > 100_000 || !strings.Contains(page, counted[path]) {
			t.Errorf("%s: %d bytes, of 100,000, and %q in it: %t", path, len(page), counted[path], strings.Contains(page, counted[path]))
		}
	}
}

func largePlan() *WorkspacePlan {
	plan := &WorkspacePlan{Plan: &apply.Plan{Changes: make([]workspace.Change, many)}, Difference: largeText()}
	for i := range many {
		plan.Topics = append(plan.Topics, schemas.DeliverTopic(largeID(i)))
	}
	return plan
}

// TestWhatIsLeftOutCanBeFound: behind the first page, and by a search.
func TestWhatIsLeftOutCanBeFound(t *testing.T) {
	t.Parallel()
	c := newConsole(t, func(set *Settings) { set.Questions, set.Workspace = largeQuestions(), largeWorkspace() })
	for target, want := range map[string]string{
		"/replay?id=r2&q=-09999":                  ">destination-09999<",
		"/replay?id=r2&page=200":                  ">destination-09999<",
		"/replay/plan?from=24h&page=200":          ">destination-09999<",
		"/redrive?destination=x&since=1h&page=25": "  destination-09999  status_4xx",
		"/event?id=m1":                            ">destination-09999</a>: dead",
		"/event?id=m1&destination=-05000":         ">destination-05000</a>: delivered",
	} {
		page := ""
		testkit.Until(t, func() bool {
			page = look(t, c, Path+target)
			return !strings.Contains(page, `class="asking"`)
		}, "the answer of "+target)
		if !strings.Contains(page, want) {
			t.Errorf("%s does not have %s", target, want)
		}
	}
	// A plan is that of the time when it was made, whenever its next page is turned to.
	if page := look(t, c, Path+"/replay/plan?from=24h"); !strings.Contains(page, `rel="next" href="/console/replay/plan?from=20`) {
		t.Error("the next page of a plan is of another time")
	}
}

// TestManyDeadLettersFromBrokers: all are counted, and no more are held than are listed.
func TestManyDeadLettersFromBrokers(t *testing.T) {
	t.Parallel()
	const letters = 5_000
	b := newBrokers(t)
	if err := b.Topics.Ensure(t.Context(), schemas.TopicDeadLetters); err != nil {
		t.Fatal(err)
	}
	begun := time.Now().Add(-time.Hour)
	for i := range letters {
		h := sampleLetter(i, "refused").Headers
		h.Destination = largeID(i % 100)
		dead := kafka.DeadLetter(sampleLetter(i, fmt.Sprint("u", i)).Record, h, begun.Add(time.Duration(i)*time.Millisecond))
		b.Topics.Client.Produce(t.Context(), dead, nil)
	}
	if err := b.Topics.Client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	said := 0
	found, err := b.letters(t.Context(), LettersOf{Back: 24 * time.Hour}, func(string) { said++ })
	if err != nil || found.Read != letters || found.Found != letters || len(found.groups) != 100 || len(found.Newest) > 2*mostLetters {
		t.Fatalf("%d of %d found in %d groups, of which %d are held, %v", found.Found, found.Read, len(found.groups), len(found.Newest), err)
	}
	if said != letters/saidEach {
		t.Errorf("how far it is was said %d times", said)
	}
	last := found.Newest[len(found.Newest)-1]
	if want := begun.Add((letters - 1) * time.Millisecond); !last.FailedAt.Equal(want.UTC().Truncate(time.Millisecond)) {
		t.Errorf("the newest was given up at %s, want %s", last.FailedAt, want)
	}
}
