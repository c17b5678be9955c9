package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/personas/ask"
	"github.com/anabranch/anabranch/schemas"
)

func TestPersonas(t *testing.T) {
	t.Parallel()
	all, err := samplePersonas("Buyers").List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got personasView
	got.fill(all, "")
	want := []personaRow{{Key: "buyers", Kind: "audience", Name: "Buyers", Version: "2", Phase: "filling", Size: "1,204", Entered: "12", Left: "3", Filled: "25% until 2026-11-21 12:00:00Z"}}
	if diff := cmp.Diff(want, got.Rows); diff != "" {
		t.Errorf("the rows differ (-want +got):\n%s", diff)
	}
	c := newConsole(t, nil)
	if page := look(t, c, Path+"/personas?q=BUY"); !strings.Contains(page, `id="p-buyers"`) || strings.Contains(page, "http-equiv") {
		t.Errorf("the search does not find it, or the page comes back by itself:\n%s", page)
	}
	if page := look(t, c, Path+"/personas?q=none"); strings.Contains(page, `id="p-buyers"`) {
		t.Error("the search finds more than what was looked for")
	}
	if page := look(t, c, Path+"/personas?q=b&follow=1"); !strings.Contains(page, `content="5"`) || !strings.Contains(page, `id="follow" href="/console/personas?q=b"`) {
		t.Errorf("a page that was to come back does not, or does not end:\n%s", page)
	}
}

// TestOnePersona: what is in force, and what differs between versions, as the command prints it.
func TestOnePersona(t *testing.T) {
	t.Parallel()
	c := newConsole(t, nil)
	page := look(t, c, Path+"/persona?key=buyers")
	for _, want := range []string{
		"within: 7d", "25% until", "from=1&amp;key=buyers&amp;to=2#differences", `href="/console/members?key=buyers"`, `<option value="mail">mail</option>`, "<td>when</td>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s:\n%s", want, page)
		}
	}
	if strings.Contains(page, `<option value="crm">`) {
		t.Error("a destination is offered that is told nothing")
	}
	if page = look(t, c, Path+"/persona?key=buyers&from=1&to=2"); !strings.Contains(page, "\n-   when: {did: Order Completed, times: {gte: 1}, within: 1d}\n&#43;   when: ") {
		t.Errorf("the differences are not on the page:\n%s", page)
	}
	for query, want := range map[string]int{
		"": 400, "key=byers": 404, "key=buyers&from=x&to=2": 400, "key=buyers&from=1&to=9": 404, "key=buyers&from=1": 400, "key=" + strings.Repeat("x", 1_001): 400,
	} {
		if w := serve(c, request(t, http.MethodGet, Path+"/persona?"+query, "")); w.Code != want || want == 404 && !strings.Contains(w.Body.String(), "buyers") {
			t.Errorf("%.40s was answered %d, want %d", query, w.Code, want)
		}
	}
}

// TestPeople: members page by page, one user with exact numbers, and what was told of them.
func TestPeople(t *testing.T) {
	t.Parallel()
	c := newConsole(t, nil)
	for target, wants := range map[string][]string{
		"/members?key=buyers":           {"/console/profile?user=Signed%20Up", "/console/members?after=Signed&#43;Up&amp;key=buyers"},
		"/members?key=buyers&after=Ann": {`rel="first" href="/console/members?key=buyers"`},
		"/profile?user=u1":              {"9007199254740993", "Merged into", "by request Signed Up", "member", "/console/explain?key=orders&amp;user=u1"},
		"/history?name=buyers&since=1h": {"/console/event?id=Signed&#43;Up&amp;since=1h&amp;user=Signed&#43;Up", "<td>event</td>"},
	} {
		page := look(t, c, Path+target)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s does not have %s:\n%s", target, want, page)
			}
		}
	}
	for _, target := range []string{"/members", "/profile", "/history", "/explain?key=buyers", "/explain?user=u", "/history?name=u&since=x", "/profile?user=" + strings.Repeat("x", 1_001)} {
		if w := serve(c, request(t, http.MethodGet, Path+target, "")); w.Code != http.StatusBadRequest {
			t.Errorf("%.30s was answered %d", target, w.Code)
		}
	}
}

// TestATree has each node with its value, and the newest of the calls that count.
func TestATree(t *testing.T) {
	t.Parallel()
	var ids []string
	for range mostCounted + 1_204 {
		ids = append(ids, "m"+time.Duration(len(ids)).String())
	}
	got := nodeOf(&ask.Node{Node: "all", Children: []*ask.Node{
		{Node: "did: Order Completed", Value: []byte("9007199254740993"), Threshold: "gte 2", Holds: true, FlipsAt: &noon, MessageIDs: ids},
		{Node: "computed: orders", Value: []byte("1"), Threshold: "gte 3"},
	}}, "u&1")
	calls := got.Children[0].Calls
	got.Children[0].Calls = nil
	want := nodeView{Text: "all", Holds: "does not hold", Children: []nodeView{
		{Text: "did: Order Completed", Holds: "holds", Value: "9007199254740993", Expected: "gte 2", Flips: "2026-11-21 12:00:00Z", More: "1,204"},
		{Text: "computed: orders", Holds: "does not hold", Value: "1", Expected: "gte 3 (short by 2)"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the view differs (-want +got):\n%s", diff)
	}
	if last := calls[len(calls)-1]; len(calls) != mostCounted || last != (valueRow{"m1.223µs", "/console/event?id=m1.223%C2%B5s&since=720h&user=u%261"}) {
		t.Errorf("%d calls are named, the last %+v", len(calls), last)
	}
	page := look(t, newConsole(t, nil), Path+"/explain?key=buyers&user=u1&only=failing")
	for _, want := range []string{"is not in", "first 1,204 offsets", `value="failing" selected`, `<ul class="tree">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
}

// TestAPreview: what was written is read before anything is asked, and stays in the form.
func TestAPreview(t *testing.T) {
	t.Parallel()
	var asked []string
	c := newConsole(t, func(set *Settings) {
		was := set.Questions.Personas.Preview
		set.Questions.Personas.Preview = func(ctx context.Context, written string, say func(string)) (*ask.Preview, error) {
			asked = append(asked, written)
			return was(ctx, written, say)
		}
	})
	if page := look(t, c, Path+"/preview?key=buyers"); !strings.Contains(page, "- id: buyers") || len(asked) != 0 {
		t.Errorf("the form does not have what is in force, or %q was asked:\n%s", asked, page)
	}
	write := func(text string) string { return Path + "/preview?written=" + url.QueryEscape(text) }
	page := look(t, c, write("- id: buyers\n  whenn: {did: x}\n"))
	if !strings.Contains(page, "definition:2: ") || !strings.Contains(page, "- id: buyers&#xa;  whenn") || len(asked) != 0 {
		t.Errorf("what is wrong is not said, or %q was asked:\n%s", asked, page)
	}
	page = look(t, c, write("- id: buyers\r\n  when: {did: x}\r\n"))
	if !strings.Contains(page, "1,204") || len(asked) != 1 || asked[0] != "- id: buyers\n  when: {did: x}\n" {
		t.Errorf("%q was asked:\n%s", asked, page)
	}
	for target, want := range map[string]int{"/preview?key=none": 404, "/preview?written=" + strings.Repeat("x", maxWritten+1): 400, "/preview": 200} {
		if w := serve(c, request(t, http.MethodGet, Path+target, "")); w.Code != want {
			t.Errorf("%.30s was answered %d, want %d", target, w.Code, want)
		}
	}
}

// TestACheck is made by who asks for it alone.
func TestACheck(t *testing.T) {
	t.Parallel()
	asked := 0
	c := newConsole(t, func(set *Settings) {
		was := set.Questions.Personas.Check
		set.Questions.Personas.Check = func(ctx context.Context, say func(string)) (*ask.Verdict, error) {
			asked++
			return was(ctx, say)
		}
	})
	if page := look(t, c, Path+"/check"); !strings.Contains(page, "<button>Check</button>") || asked != 0 {
		t.Errorf("it was asked %d times:\n%s", asked, page)
	}
	if page := look(t, c, Path+"/check?run=1"); !strings.Contains(page, "There are 1 differences") || !strings.Contains(page, "compared 3 users") || asked != 1 {
		t.Errorf("it was asked %d times:\n%s", asked, page)
	}
}

// TestAResync: what it would do is shown, then it is done as a job, which can be cancelled.
func TestAResync(t *testing.T) {
	t.Parallel()
	asked := make(chan ask.Resyncing, 10)
	c := newConsole(t, func(set *Settings) {
		behindProxy(set)
		set.Questions.Personas.Resync = func(ctx context.Context, of ask.Resyncing, say func(string)) (string, error) {
			asked <- of
			if of.DryRun {
				return "would tell 3 of 12 users", nil
			}
			say("told 1 of 12 users")
			<-ctx.Done()
			return "1 of 12 users", ctx.Err()
		}
	})
	plan := named(t, "/resync?key=buyers&destination=mail&rate=7", "")
	plan.Method = http.MethodGet
	if page := serve(c, plan).Body.String(); !strings.Contains(page, "would tell 3 of 12") || !strings.Contains(page, `value="7"`) {
		t.Errorf("the plan is\n%s", page)
	}
	if of := <-asked; of != (ask.Resyncing{Key: "buyers", Destination: "mail", Rate: 7, DryRun: true}) {
		t.Errorf("asked for %+v", of)
	}
	if page := look(t, c, Path+"/resync?key=buyers&destination=mail"); strings.Contains(page, "<button>Resync") || !strings.Contains(page, "Log in") {
		t.Error("who has no name may begin it")
	}
	w := serve(c, named(t, "/resync", "key=buyers&destination=mail&rate=50"))
	if w.Code != http.StatusSeeOther {
		t.Fatalf("the form was answered %d: %s", w.Code, w.Body)
	}
	<-asked // the second plan
	if of := <-asked; of != (ask.Resyncing{Key: "buyers", Destination: "mail", Rate: 50}) {
		t.Errorf("began %+v", of)
	}
	if w = serve(c, named(t, "/resync", "key=buyers&destination=mail&rate=50")); w.Code != http.StatusConflict {
		t.Errorf("the same once more was answered %d", w.Code)
	}
	id := jobOfTest(t, c)
	serve(c, named(t, "/job", "id="+id))
	c.jobs.Close()
	if job, _ := c.jobs.Get(id); job.Result != "1 of 12 users" || job.Cancelled != "ada" {
		t.Errorf("the job is %+v", job)
	}
	for _, form := range []string{"", "key=buyers", "destination=mail", "key=a&destination=b&rate=0", "key=a&destination=b&rate=10001", "key=a&destination=b&rate=x"} {
		if w = serve(c, named(t, "/resync", form)); w.Code != http.StatusBadRequest {
			t.Errorf("%q was answered %d", form, w.Code)
		}
	}
}

// TestPersonasFromBrokers asks real questions, of a cluster where the stage has never run.
func TestPersonasFromBrokers(t *testing.T) {
	t.Parallel()
	b := newBrokers(t)
	if err := b.Topics.Ensure(t.Context(), schemas.TopicRawEvents, schemas.TopicPersonasInternal, schemas.TopicPersonasChangelog); err != nil {
		t.Fatal(err)
	}
	q := FromBrokers(b).Personas
	answers := make(map[string]string)
	note := func(name string) func(value any, err error) {
		return func(value any, err error) { answers[name] = fmt.Sprintf("%v, %v", value, err) }
	}
	say := func(string) {}
	of := ask.Resyncing{Key: "buyers", Destination: "mail", Rate: 1, DryRun: true}
	all, err := q.List(t.Context(), say)
	note("list")(all[0].Phase, err)
	one, err := q.Show(t.Context(), "buyers", say)
	note("show")(len(one.Versions), err)
	members, err := q.Members(t.Context(), MembersOf{Key: "buyers"}, say)
	note("members")(*members, err)
	told, err := q.History(t.Context(), HistoryOf{Name: "buyers", Back: time.Hour}, say)
	note("history")(told.All, err)
	preview, err := q.Preview(t.Context(), "- {id: buyers, when: {did: y}}", say)
	note("preview")(preview.Definitions[0].Version, err)
	plan, err := q.Resync(t.Context(), of, say)
	note("resync")(plan, err)
	_, err = q.Profile(t.Context(), "nobody", say)
	note("profile")(nil, err)
	_, err = q.Explain(t.Context(), ExplainOf{Key: "byers", User: "nobody"}, say)
	note("explain")(nil, err)
	want := map[string]string{
		"list": "waiting, <nil>", "show": "2, <nil>", "members": "{[] false}, <nil>", "history": "0, <nil>", "preview": "2, <nil>",
		"resync":  "would tell 0 of 0 users of buyers to mail, in 0s at 1/s\n, <nil>",
		"profile": `<nil>, there is no user "nobody"`, "explain": `<nil>, there is no audience or computed trait "byers": did you mean "buyers"?`,
	}
	if diff := cmp.Diff(want, answers); diff != "" {
		t.Errorf("the answers differ (-want +got):\n%s", diff)
	}
}
