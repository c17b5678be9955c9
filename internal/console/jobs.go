package console

import (
	"net/http"
	"net/url"
	"time"

	"github.com/anabranch/anabranch/internal/console/internal/jobs"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/terminal"
)

// jobsView is what was begun from pages of this process.
type jobsView struct{ Rows []jobRow }

type jobRow struct{ ID, What, By, Began, State string }

// jobView is one piece of work.
type jobView struct {
	permission
	pager

	ID, What, By, Began, Ended, Took string
	Running                          bool
	Said, Result, Problem, Cancelled string
}

// jobPath is where the page of a job is.
func jobPath(id string) string { return Path + "/job?id=" + url.QueryEscape(id) }

func (c *Console) listJobs(*visit) (*content, error) {
	var view jobsView
	for _, job := range c.jobs.All() {
		view.Rows = append(view.Rows, jobRow{job.ID, job.What, job.By, terminal.Moment(job.Began), stateOf(&job)})
	}
	return &content{title: "Jobs", again: byAndBy, view: view}, nil
}

func stateOf(j *jobs.Job) string {
	switch {
	case j.Running():
		return "under way"
	case j.Err != nil:
		return "ended early"
	}
	return "done"
}

// job shows how far a job is, and follows it.
func (c *Console) job(v *visit) (*content, error) {
	found, known := c.jobs.Get(v.text("id"))
	if !known {
		return nil, &problem{http.StatusNotFound, "there is no such job in this process: it may have been restarted, or the job begun in another one"}
	}
	view := jobOf(&found, v.now, c.permits(v))
	view.Result, view.pager = pagedLines(found.Result, v.text("page"))
	view.link(v.URL)
	shown := &content{title: "Job", view: view}
	if found.Running() {
		shown.again = soon
	}
	return shown, nil
}

func jobOf(j *jobs.Job, now time.Time, may permission) jobView {
	view := jobView{
		permission: may, ID: j.ID, What: j.What, By: j.By, Began: terminal.Moment(j.Began), Ended: terminal.Moment(j.Ended),
		Running: j.Running(), Said: j.Said, Result: j.Result, Cancelled: j.Cancelled, Took: terminal.Brief(j.Ended.Sub(j.Began)),
	}
	if j.Running() {
		view.Took = terminal.Brief(now.Sub(j.Began))
	}
	if j.Err != nil {
		view.Problem = sentence(kafka.Advised(j.Err).Error())
	}
	return view
}

// cancelJob tells a job to end.
func (c *Console) cancelJob(v *visit) (string, error) {
	id := v.PostFormValue("id")
	if !c.jobs.Cancel(id, v.who.Name) {
		return "", &problem{http.StatusNotFound, "there is no such job"}
	}
	return jobPath(id), nil
}
