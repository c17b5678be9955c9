package console

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

const crmFile = `sources:
  - {id: website, name: Web site, writeKey: zqWriteKey}
destinations:
  - id: crm
    type: webhooks
    name: CRM
    sources: [website]
    sharedSecret: zqShared
    endpoints: [{url: 'https://user:zqPassword@10.0.0.5/hooks?key=zqQuery', headers: {Authorization: zqHeader}}]
`

// applying is a console that applies workspace files to brokers, who have none yet.
func applying(t *testing.T) (*Console, *Brokers, *testkit.Logs) {
	t.Helper()
	b := newBrokers(t)
	b.Publisher = &wstopic.Publisher{Kafka: b.Kafka, Ensure: func(ctx context.Context, _ map[string]schemas.Export, topics ...string) error {
		return b.Topics.Ensure(ctx, topics...)
	}}
	b.Permit = func(netip.AddrPort) error { return http.ErrNotSupported }
	log := new(testkit.Logs)
	return newConsole(t, func(set *Settings) {
		behindProxy(set)
		set.Logger = slog.New(slog.NewTextHandler(log, nil))
		q := FromBrokers(b)
		set.Questions.PlanWorkspace, set.Questions.ApplyWorkspace = q.PlanWorkspace, q.ApplyWorkspace
	}), b, log
}

// planned returns where the plan of a file is.
func planned(t *testing.T, c *Console, file string) (*url.URL, string) {
	t.Helper()
	w := serve(c, named(t, "/workspace/plan", url.Values{"file": {strings.ReplaceAll(file, "\n", "\r\n")}}.Encode()))
	at, err := url.Parse(w.Header().Get("Location"))
	if err != nil || w.Code != http.StatusSeeOther {
		t.Fatalf("the file was answered %d, %v: %s", w.Code, err, w.Body)
	}
	return at, seen(t, c, at.RequestURI())
}

// uploaded is a form with a file in it, as browsers send it; without a name none was chosen.
func uploaded(t *testing.T, name, file string, fields ...string) *http.Request {
	t.Helper()
	var body strings.Builder
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("upload", name)
	if err == nil {
		_, err = io.WriteString(part, file)
	}
	if err = errors.Join(err, form.Close()); err != nil {
		t.Fatal(err)
	}
	return named(t, "/workspace/plan", body.String(), append([]string{"Content-Type", form.FormDataContentType()}, fields...)...)
}

// confirmed applies a plan, and returns the page of what came of it.
func confirmed(t *testing.T, c *Console, plan *url.URL) (page string) {
	t.Helper()
	w := serve(c, named(t, "/workspace/apply", plan.RawQuery))
	if w.Code != http.StatusSeeOther {
		t.Fatalf("the plan was answered %d: %s", w.Code, w.Body)
	}
	testkit.Until(t, func() bool {
		page = seen(t, c, w.Header().Get("Location"))
		return strings.Contains(page, "<dt>Ended</dt>")
	}, "the plan to be applied")
	return page
}

// secretOfTest is the beginning of a secret; ids, which are random, have no capital letters.
var secretOfTest = regexp.MustCompile("zq[A-Z]")

func withoutSecrets(t *testing.T, what, text string) {
	t.Helper()
	if at := secretOfTest.FindStringIndex(text); at != nil {
		t.Errorf("%s has a secret: %.40s", what, text[at[0]:])
	}
}

// TestAWorkspaceFileIsApplied: what it would change is shown, then it is in force, and the log
// says by whom.
func TestAWorkspaceFileIsApplied(t *testing.T) {
	t.Parallel()
	c, b, log := applying(t)
	at, page := planned(t, c, crmFile)
	for _, want := range []string{
		"+ source website\n+ destination crm\n", "this is a dry run: nothing was changed", "warning: destination crm:", ">deliver.crm\n", `action="/console/workspace/apply"`,
	} {
		if !strings.Contains(strings.ReplaceAll(page, "&#43;", "+"), want) {
			t.Errorf("the plan does not have %q:\n%s", want, page)
		}
	}
	withoutSecrets(t, "the plan", page)
	if state, err := wstopic.Read(t.Context(), b.Kafka); err != nil || len(state.Snapshot.Destinations()) != 0 {
		t.Fatalf("a plan changed something: %s, %v", state.Snapshot, err)
	}
	done := confirmed(t, c, at)
	if !strings.Contains(done, "applied the file: ") || !strings.Contains(done, "destination crm") {
		t.Errorf("what was done is\n%s", done)
	}
	withoutSecrets(t, "what was done", done)
	if w := serve(c, named(t, "/workspace/apply", at.RawQuery)); w.Code != http.StatusNotFound {
		t.Errorf("once more the plan was answered %d", w.Code)
	}
	if strings.Count(log.String(), `msg="console: begun" what="application of a workspace file with `) != 1 || !strings.Contains(log.String(), "person=ada") {
		t.Errorf("the log is\n%s", log)
	}
	withoutSecrets(t, "the log", log.String())
	isApplied(t, b)
	if _, page = planned(t, c, crmFile); !strings.Contains(page, "the file is in force already") || strings.Contains(page, `action="/console/workspace/apply"`) || strings.Contains(page, "would be created") {
		t.Errorf("the plan of what is in force is\n%s", page)
	}
}

// isApplied holds what is in force to crmFile, and what goes with it.
func isApplied(t *testing.T, b *Brokers) {
	t.Helper()
	state, err := wstopic.Read(t.Context(), b.Kafka)
	if d, known := state.Snapshot.Destination("crm"); err != nil || !known || d.SharedSecret.Reveal() != "zqShared" {
		t.Errorf("in force is %s, %v", state.Snapshot, err)
	}
	if there, err := b.Topics.Counts(t.Context()); err != nil || there["deliver.crm"] == 0 || there["imports"] == 0 {
		t.Errorf("there are %v, %v", there, err)
	}
}

// TestAnUploadedFileIsApplied as a pasted one is, and is on no disk meanwhile.
func TestAnUploadedFileIsApplied(t *testing.T) {
	c, b, log := applying(t)
	t.Setenv("TMPDIR", "/dev/null")
	var plan *url.URL
	for _, file := range []string{crmFile, strings.ReplaceAll(crmFile, "\n", "\r\n"), crmFile + strings.Repeat("#", wsfile.MaxBytes-len(crmFile))} {
		w := serve(c, uploaded(t, "<script>.yaml", file))
		var err error
		if plan, err = url.Parse(w.Header().Get("Location")); err != nil || w.Code != http.StatusSeeOther {
			t.Fatalf("the file was answered %d, %v: %s", w.Code, err, w.Body)
		}
		page := seen(t, c, plan.RequestURI())
		if !strings.Contains(strings.ReplaceAll(page, "&#43;", "+"), "+ source website\n+ destination crm\n") {
			t.Errorf("the plan of %d bytes is\n%s", len(file), page)
		}
		withoutSecrets(t, "the plan", page)
	}
	if done := confirmed(t, c, plan); !strings.Contains(done, "applied the file: ") {
		t.Errorf("what was done is\n%s", done)
	}
	isApplied(t, b)
	withoutSecrets(t, "the log", log.String())
}

// TestWhatIsNoFile: what is wrong with an upload is said, and nothing comes of it.
func TestWhatIsNoFile(t *testing.T) {
	t.Parallel()
	c, b, _ := applying(t)
	for name, test := range map[string]struct {
		r      *http.Request
		status int
		want   string // on the page that it is answered with, or that it leads to
	}{
		"not UTF-8":           {uploaded(t, "w.yaml", "sources: []\nname: caf\xe9"), http.StatusSeeOther, "the file:2: the byte 0xe9: expected printable UTF-8 text"},
		"UTF-16":              {uploaded(t, "w.yaml", "\xff\xfes\x00o\x00"), http.StatusSeeOther, "the file:1: the byte 0xff: expected printable UTF-8 text"},
		"empty":               {uploaded(t, "w.yaml", ""), http.StatusSeeOther, "an empty file"},
		"too large":           {uploaded(t, "w.yaml", strings.Repeat("#", wsfile.MaxBytes+1)), http.StatusSeeOther, "expected at most 1048576"},
		"larger than forms":   {uploaded(t, "w.yaml", strings.Repeat("#", maxFileForm)), http.StatusRequestEntityTooLarge, "The file is too large: expected at most 1,048,576 bytes."},
		"a text larger":       {named(t, "/workspace/plan", "file="+strings.Repeat("x", maxFileForm)), http.StatusRequestEntityTooLarge, "The form is too large: expected at most 3,211,264 bytes."},
		"none":                {uploaded(t, "", ""), http.StatusBadRequest, "No file was chosen: expected a workspace file."},
		"a form without one":  {named(t, "/workspace/plan", "--x--\r\n", "Content-Type", "multipart/form-data; boundary=x"), http.StatusBadRequest, "No file was chosen"},
		"half of a form":      {named(t, "/workspace/plan", "--x\r\nContent-Disposition: form-data; name=upload; filename=w\r\n\r\nsources", "Content-Type", "multipart/form-data; boundary=x"), http.StatusBadRequest, "The file can&#39;t be read: "},
		"a form without ends": {uploaded(t, "w.yaml", crmFile, "Content-Type", "multipart/form-data"), http.StatusBadRequest, "The file can&#39;t be read: "},
		"of another site":     {uploaded(t, "w.yaml", crmFile, "Sec-Fetch-Site", "cross-site"), http.StatusForbidden, "of another site"},
		"of another origin":   {uploaded(t, "w.yaml", crmFile, "Origin", "https://evil.example"), http.StatusForbidden, "of another site"},
		"of nobody":           {uploaded(t, "w.yaml", crmFile, "X-Forwarded-User", ""), http.StatusUnauthorized, "Log in first."},
	} {
		w := serve(c, test.r)
		page := w.Body.String()
		if w.Code == http.StatusSeeOther {
			page = seen(t, c, w.Header().Get("Location"))
		}
		if w.Code != test.status || !strings.Contains(page, test.want) || strings.Contains(page, `action="/console/workspace/apply"`) {
			t.Errorf("%s: answered %d without %q:\n%s", name, w.Code, test.want, page)
		}
	}
	if state, err := wstopic.Read(t.Context(), b.Kafka); err != nil || len(state.Snapshot.Destinations()) != 0 {
		t.Errorf("something is in force: %s, %v", state.Snapshot, err)
	}
}

// TestAPlanOfAnotherState is not applied.
func TestAPlanOfAnotherState(t *testing.T) {
	t.Parallel()
	c, b, _ := applying(t)
	at, _ := planned(t, c, crmFile)
	other := workspace.NewSnapshot([]workspace.Source{{ID: "app", Name: "App", WriteKeyHash: workspace.HashWriteKey("k")}}, nil)
	if _, err := b.Publisher.Apply(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if page := confirmed(t, c, at); !strings.Contains(page, "has changed since") || strings.Contains(page, "applied the file") {
		t.Errorf("what came of it is\n%s", page)
	}
	if state, err := wstopic.Read(t.Context(), b.Kafka); err != nil || len(state.Snapshot.Destinations()) != 0 || len(state.Snapshot.Sources()) != 1 {
		t.Errorf("in force is %s, %v", state.Snapshot, err)
	}
	if _, page := planned(t, c, crmFile); !strings.Contains(page, "source app") {
		t.Errorf("the next plan is\n%s", page)
	}
}

// TestWhatStaysPaused is said.
func TestWhatStaysPaused(t *testing.T) {
	t.Parallel()
	c, b, _ := applying(t)
	at, _ := planned(t, c, crmFile)
	confirmed(t, c, at)
	if _, err := b.Publisher.Pause(t.Context(), "crm", "eve", noon); err != nil {
		t.Fatal(err)
	}
	if _, page := planned(t, c, strings.ReplaceAll(crmFile, "name: CRM", "name: Sales")); !strings.Contains(page, "destination crm stays paused") || !strings.Contains(page, "destination crm: name changed") {
		t.Errorf("the plan is\n%s", page)
	}
}

// TestAPlanIsOfOnePerson alone.
func TestAPlanIsOfOnePerson(t *testing.T) {
	t.Parallel()
	c, _, _ := applying(t)
	at, _ := planned(t, c, crmFile)
	target := strings.TrimPrefix(at.RequestURI(), Path)
	for name, r := range map[string]*http.Request{
		"the page to another":   named(t, target, "", "X-Forwarded-User", "eve"),
		"the page to nobody":    request(t, http.MethodGet, at.RequestURI(), ""),
		"the button of another": named(t, "/workspace/apply", at.RawQuery, "X-Forwarded-User", "eve"),
	} {
		if strings.HasPrefix(name, "the page") {
			r.Method = http.MethodGet
		}
		w := serve(c, r)
		// The plan's id is in the link to the login, and may have anything in it.
		if page := strings.ReplaceAll(w.Body.String(), at.Query().Get("id"), ""); w.Code != http.StatusNotFound || strings.Contains(page, "crm") {
			t.Errorf("%s was answered %d: %s", name, w.Code, w.Body)
		}
	}
	if len(c.jobs.All()) != 0 {
		t.Error("something was begun")
	}
}

// TestAFileWithMistakes: all of them are named, by line, and nothing of it is kept but that.
func TestAFileWithMistakes(t *testing.T) {
	t.Setenv("CONSOLE_TEST_SECRET", "zqEnvironment")
	c, _, _ := applying(t)
	wrong := strings.ReplaceAll(crmFile, "name: CRM", "nam: CRM")
	wrong = strings.ReplaceAll(wrong, "sharedSecret: zqShared", "sharedSecret: {env: CONSOLE_TEST_SECRET}")
	wrong = strings.ReplaceAll(wrong, "writeKey: zqWriteKey", "writeKey: {file: /etc/hostname}")
	at, page := planned(t, c, wrong)
	for _, want := range []string{
		"the file:6: destinations[0].nam: ", "the file:8: destinations[0].sharedSecret.env: ", "the file:2: sources[0].writeKey.file: ", "apply such a file with `anabranch apply -f FILE`",
	} {
		if !strings.Contains(strings.ReplaceAll(page, "&#34;", `"`), want) {
			t.Errorf("the page does not have %q:\n%s", want, page)
		}
	}
	withoutSecrets(t, "the page", page)
	if strings.Contains(page, `action="/console/workspace/apply"`) {
		t.Error("it can be applied")
	}
	if w := serve(c, named(t, "/workspace/apply", at.RawQuery)); w.Code != http.StatusConflict {
		t.Errorf("its application was answered %d", w.Code)
	}
	for file, want := range map[string]string{
		"": "an empty file", strings.Repeat("#", 1<<20+1): "expected at most 1048576", "a: [zqSecret": "the file:1",
	} {
		_, page = planned(t, c, file)
		if !strings.Contains(page, want) {
			t.Errorf("the page of %.10q does not have %q", file, want)
		}
		withoutSecrets(t, "the page", page)
	}
}

// TestWhereFilesAreNotApplied says why.
func TestWhereFilesAreNotApplied(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Settings){
		"read-only":      func(set *Settings) { set.ReadOnly = true },
		"WORKSPACE_FILE": func(set *Settings) { set.WorkspaceFile = "/etc/workspace.yaml" },
	} {
		c := newConsole(t, func(set *Settings) { behindProxy(set); change(set) })
		if page := seen(t, c, Path+"/workspace/plan"); strings.Contains(page, "<textarea") || !strings.Contains(page, "anabranch apply") && !strings.Contains(page, "/etc/workspace.yaml, is what counts") {
			t.Errorf("%s: the page is\n%s", name, page)
		}
		for target, form := range map[string]string{"/workspace/plan": "file=x", "/workspace/apply": "id=x"} {
			if w := serve(c, named(t, target, form)); w.Code < 400 || name == "WORKSPACE_FILE" && (w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "/etc/workspace.yaml")) {
				t.Errorf("%s: %s was answered %d", name, target, w.Code)
			}
		}
	}
	c := newConsole(t, nil)
	if page := look(t, c, Path+"/workspace/plan"); strings.Contains(page, "<textarea") || !strings.Contains(page, "/console/login?next=") {
		t.Errorf("to who has no name the page is\n%s", page)
	}
}

// TestPlansAreFewAndPass: what a file had in it does not stay.
func TestPlansAreFewAndPass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var h heldPlans
		var ids []string
		for range maxPlans + 1 {
			ids = append(ids, h.hold(&heldPlan{by: "ada", made: time.Now()}))
		}
		kept := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, err := h.find(id, "ada"); return err != nil })
		if !slices.Equal(kept, ids[1:]) {
			t.Errorf("kept are %v of %v", kept, ids)
		}
		virtual.Sleep(planLife - time.Second)
		synctest.Wait()
		if _, err := h.find(ids[1], "ada"); err != nil {
			t.Error("it is gone too early")
		}
		virtual.Sleep(time.Second)
		synctest.Wait()
		if len(h.all) != 0 {
			t.Errorf("%d are kept for longer", len(h.all))
		}
	})
}
