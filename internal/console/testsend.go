package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/testsend"
)

// SendOf says what is sent for a test, and where to.
type SendOf struct {
	Destination string
	Endpoint    int          // from 1; 0: all
	Type        schemas.Type // of the example
	MessageID   string       // of a stored event in place of an example; empty: none
	User        string       // who made it; empty: not known
	Back        time.Duration
}

// testForm is the form that begins a test.
type testForm struct {
	permission

	Elsewhere bool // no sink is in this process
	ID        string
	Endpoints []option
	Types     []option
	Backs     []option
}

// testFormOf is the form for a destination; nil: it is not sent webhooks.
func (c *Console) testFormOf(v *visit, d *workspace.Destination) *testForm {
	if !d.Is(workspace.TypeWebhooks) {
		return nil
	}
	form := &testForm{permission: c.permits(v), Elsewhere: c.Questions.Send == nil, ID: d.ID, Endpoints: []option{{"0", "all of them"}}, Types: testTypes(), Backs: backs()}
	for i, e := range d.Endpoints {
		form.Endpoints = append(form.Endpoints, option{strconv.Itoa(i + 1), e.SafeURL()})
	}
	return form
}

func testTypes() []option {
	types := testsend.Types()
	all := make([]option, len(types))
	for i, t := range types {
		all[i] = option{string(t), string(t)}
	}
	return all
}

// sendOf reads the form.
func sendOf(form url.Values) (of SendOf, err error) {
	of = SendOf{
		Destination: form.Get("id"), Type: schemas.Type(form.Get("type")),
		MessageID: strings.TrimSpace(form.Get("event")), User: strings.TrimSpace(form.Get("user")),
	}
	bad := func(text string) (SendOf, error) { return of, &problem{http.StatusBadRequest, text} }
	if of.Endpoint, err = strconv.Atoi(form.Get("endpoint")); err != nil || of.Endpoint < 0 || of.Endpoint > workspace.MaxEndpoints {
		return bad("expected an endpoint, by its number")
	}
	if !slices.Contains(testsend.Types(), of.Type) {
		return bad("expected one of the types of events")
	}
	if len(of.MessageID) > maxSearch || len(of.User) > maxSearch {
		return bad("the messageId or the user has more than " + strconv.Itoa(maxSearch) + " bytes")
	}
	since := form.Get("since")
	if !slices.ContainsFunc(backs(), func(o option) bool { return o.Value == since }) {
		return bad("expected how far back to look for the event")
	}
	of.Back, err = time.ParseDuration(since)
	return of, err
}

// words say for people what is sent.
func (of *SendOf) words() string {
	text := "test delivery of an example of " + string(of.Type)
	if of.MessageID != "" {
		text = "test delivery of event " + terminal.Safe(of.MessageID)
	}
	text += " to " + terminal.Safe(of.Destination)
	if of.Endpoint > 0 {
		text += ", endpoint " + strconv.Itoa(of.Endpoint)
	}
	return text
}

// beginTest sends it.
func (c *Console) beginTest(v *visit) (string, error) {
	of, err := sendOf(v.PostForm)
	if err != nil {
		return "", err
	}
	if c.Questions.Send == nil {
		return "", &problem{http.StatusConflict, "this process has no webhook sink: test deliveries are made by one that has"}
	}
	if _, known := c.Workspace.Load().Destination(of.Destination); !known {
		return "", &problem{http.StatusNotFound, "no destination is called " + terminal.Safe(of.Destination)}
	}
	report := new(atomic.Pointer[testsend.Report])
	begun := v.job("test-send "+of.Destination, of.words())
	begun.Shows = report
	id, err := c.jobs.Start(v.Context(), begun, func(ctx context.Context, say func(string)) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, slow)
		defer cancel()
		came, failed := c.Questions.Send(ctx, of, say)
		if failed != nil {
			return "", failed
		}
		report.Store(came)
		var text strings.Builder
		failed = testsend.Print(&text, came)
		return text.String(), failed
	})
	if err != nil {
		return "", &problem{http.StatusConflict, err.Error()}
	}
	return Path + "/test-send?id=" + url.QueryEscape(id), nil
}

// testView is what came of a test.
type testView struct {
	Report *testsend.Report // nil: there is none yet

	What, By, Began string
	Running         bool
	Said, Problem   string
	Again           string // URL of the destination
}

// testSend shows what came of a test, request and answer side by side.
func (c *Console) testSend(v *visit) (*content, error) {
	job, known := c.jobs.Get(v.text("id"))
	report, is := job.Shows.(*atomic.Pointer[testsend.Report])
	if !known || !is {
		return nil, &problem{http.StatusNotFound, "there is no such test in this process: it may have been restarted, or the test begun in another one"}
	}
	view := testView{
		Report: report.Load(), What: job.What, By: job.By, Began: terminal.Moment(job.Began), Running: job.Running(), Said: job.Said,
	}
	if view.Report != nil {
		view.Again = Path + "/destination?id=" + url.QueryEscape(view.Report.Destination)
	}
	if job.Err != nil {
		view.Problem = sentence(kafka.Advised(job.Err).Error())
	}
	shown := &content{title: "Test delivery", view: view}
	if view.Running {
		shown.again = soon
	}
	return shown, nil
}
