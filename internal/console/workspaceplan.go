package console

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anabranch/anabranch/internal/apply"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
)

// WorkspacePlan is what a workspace would change.
type WorkspacePlan struct {
	Plan       *apply.Plan
	Difference string   // as `anabranch apply --dry-run` prints it
	Topics     []string // that would be created
}

const (
	// sentFile is what the file of a form is called: what came of it is about no file here.
	sentFile = "the file"
	// maxFileForm bounds a form with a workspace file in it, in bytes: three for each of the
	// largest file's, as text is encoded.
	maxFileForm = 3*wsfile.MaxBytes + maxForm
	// noReference is expected in the place of what leads to a secret of this process.
	noReference = "the secret itself: what env and file lead to is not read for a page; apply such a file with `anabranch apply -f FILE`"
	// planLife is how long a plan is kept, and maxPlans how many are.
	planLife = 10 * time.Minute
	maxPlans = 4
)

// heldPlan is a plan that waits for the word of who made it, or what is wrong with a file.
type heldPlan struct {
	*WorkspacePlan

	id, by string
	wrong  string
	made   time.Time
}

// heldPlans are those of this process. They stay here since the file may have secrets in it,
// which a page must not bring back.
type heldPlans struct {
	mu  sync.Mutex
	all []*heldPlan // the oldest first
}

// hold keeps a plan for a while, and returns its id. The oldest makes room.
func (h *heldPlans) hold(p *heldPlan) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.id = strings.ToLower(rand.Text())
	if len(h.all) >= maxPlans {
		h.all = slices.Delete(h.all, 0, 1)
	}
	h.all = append(h.all, p)
	time.AfterFunc(planLife, func() { h.drop(p.id) })
	return p.id
}

func (h *heldPlans) drop(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = slices.DeleteFunc(h.all, func(p *heldPlan) bool { return p.id == id })
}

// find returns a plan to who made it.
func (h *heldPlans) find(id, by string) (*heldPlan, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.all {
		if p.id == id && p.by == by {
			return p, nil
		}
	}
	return nil, &problem{http.StatusNotFound, "there is no such plan of yours: one is kept for " + terminal.Brief(planLife) + ", in the process that made it, while there are few others; plan it once more"}
}

// workspacePlanView is the form for a workspace file, and what the file would change.
type workspacePlanView struct {
	permission
	pager // of Difference

	File       string // that this process keeps in force; empty: none
	ID         string // of the plan; empty: there is none
	Wrong      string // with the file, line by line
	Difference string
	Topics     []string // a few of those that would be created
	Created    int      // how many would be
	Same       bool     // nothing would change
	Until      string   // when the plan is forgotten
}

func workspacePlanPath(id string) string { return Path + "/workspace/plan?id=" + url.QueryEscape(id) }

// showWorkspacePlan shows the form and, to who made it, a plan.
func (c *Console) showWorkspacePlan(v *visit) (*content, error) {
	view := workspacePlanView{permission: c.permits(v), File: c.WorkspaceFile}
	if id := v.text("id"); id != "" {
		held, err := c.plans.find(id, v.who.Name)
		if err != nil {
			return nil, err
		}
		view.fill(held, v.text("page"))
		view.link(v.URL)
	}
	return &content{title: "Apply a workspace file", view: view}, nil
}

func (w *workspacePlanView) fill(held *heldPlan, number string) {
	w.ID, w.Wrong, w.Until = held.id, held.wrong, terminal.Moment(held.made.Add(planLife))
	if p := held.WorkspacePlan; p != nil {
		w.Difference, w.pager = pagedLines(p.Difference, number)
		w.Topics, w.Created, w.Same = p.Topics[:min(perPage, len(p.Topics))], len(p.Topics), len(p.Plan.Changes) == 0
	}
}

// mayApply is the problem where a file keeps the workspace in force: what was applied would be
// undone by the next change of it.
func (c *Console) mayApply() error {
	if c.WorkspaceFile == "" {
		return nil
	}
	return &problem{http.StatusConflict, "the file of WORKSPACE_FILE, " + terminal.Safe(c.WorkspaceFile) + ", is what counts in this process: change that file"}
}

// planWorkspace compares a file with what is in force.
func (c *Console) planWorkspace(v *visit) (string, error) {
	if err := c.mayApply(); err != nil {
		return "", err
	}
	text, err := fileOf(v)
	if err != nil {
		return "", err
	}
	held := &heldPlan{by: v.who.Name, made: v.now}
	next, err := wsfile.Parse(sentFile, text, wsfile.Lookup{Refused: noReference})
	if wrong, ok := errors.AsType[*wsfile.Error](err); ok {
		held.wrong = wrong.Error()
		return workspacePlanPath(c.plans.hold(held)), nil
	}
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(v.Context(), quick)
	defer cancel()
	if held.WorkspacePlan, err = c.Questions.PlanWorkspace(ctx, next); err != nil {
		return "", err
	}
	return workspacePlanPath(c.plans.hold(held)), nil
}

// fileOf is the workspace file of a form: one that is uploaded, as it is, or the text of a field.
// The form is bounded by less than what is held in memory of one: nothing goes to a disk.
func fileOf(v *visit) ([]byte, error) {
	file, _, err := v.FormFile("upload")
	switch {
	case errors.Is(err, http.ErrNotMultipart):
		// Browsers end lines by two characters.
		return []byte(strings.ReplaceAll(v.PostForm.Get("file"), "\r\n", "\n")), nil
	case errors.Is(err, http.ErrMissingFile):
		return nil, &problem{http.StatusBadRequest, "no file was chosen: expected a workspace file"}
	case err != nil:
		return nil, unread(err, "file", wsfile.MaxBytes)
	}
	defer func() { _ = file.Close() }() // it was only read
	return io.ReadAll(file)
}

// applyWorkspace begins to put a plan in force, once.
func (c *Console) applyWorkspace(v *visit) (string, error) {
	if err := c.mayApply(); err != nil {
		return "", err
	}
	held, err := c.plans.find(v.PostForm.Get("id"), v.who.Name)
	if err != nil {
		return "", err
	}
	if held.WorkspacePlan == nil {
		return "", &problem{http.StatusConflict, "there is something wrong with the file: nothing can be applied"}
	}
	plan := *held.Plan
	plan.By = v.who.Name
	id, err := c.jobs.Start(v.Context(), v.job("workspace", "application of a workspace file with "+plan.Next.String()),
		func(ctx context.Context, say func(string)) (string, error) {
			ctx, cancel := context.WithTimeout(ctx, slow)
			defer cancel()
			return c.Questions.ApplyWorkspace(ctx, &plan, say)
		})
	if err != nil {
		return "", &problem{http.StatusConflict, err.Error()}
	}
	c.plans.drop(held.id)
	return jobPath(id), nil
}
