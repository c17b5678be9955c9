package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
)

// action is something that a page may do: a form leads to it, and it to a page. None is there
// where CONSOLE_READ_ONLY is set.
type action struct {
	path string // below [Path]
	// do does it, or begins to, and says where to go. What it does goes to the log, with who
	// does it: jobs see to that, and what is done at once by itself.
	do   func(*visit) (next string, err error)
	most int64 // bounds its form, in bytes; 0: [maxForm]
}

// actions are all of them.
func (c *Console) actions() []action {
	if c.ReadOnly {
		return nil
	}
	return []action{
		{path: "/redrive", do: c.beginRedrive},
		{path: "/job", do: c.cancelJob},
		{path: "/replay/start", do: c.beginReplay},
		{path: "/replay/steer", do: c.steerReplay},
		{path: "/destination/pause", do: c.pauseDestination},
		{path: "/destination/resume", do: c.resumeDestination},
		{path: "/resync", do: c.beginResync},
		{path: "/test-send", do: c.beginTest},
		{path: "/workspace/plan", do: c.planWorkspace, most: maxFileForm},
		{path: "/workspace/apply", do: c.applyWorkspace},
	}
}

// maxForm bounds a form as a rule, in bytes.
const maxForm = 64 << 10

// act does what an action does, for who may act.
func (c *Console) act(a action) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, in := c.door.Visitor(r)
		if !in {
			c.askIn(w, r)
			return
		}
		if !who.MayAct() {
			c.refuse(w, r, http.StatusForbidden, "Log in first: who changes something has a name.")
			return
		}
		most := cmp.Or(a.most, maxForm)
		r.Body = http.MaxBytesReader(w, r.Body, most)
		v := &visit{Request: r, who: who, now: time.Now()}
		if err := r.ParseForm(); err != nil {
			c.fail(w, v, unread(err, "form", most))
			return
		}
		leads, err := a.do(v)
		if err != nil {
			c.fail(w, v, err)
			return
		}
		http.Redirect(w, r, leads, http.StatusSeeOther)
	})
}

// unread is the problem with a form, or a file of one, that could not be read; most bounds it,
// in bytes.
func unread(err error, what string, most int64) error {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return &problem{http.StatusRequestEntityTooLarge, "the " + what + " is too large: expected at most " + terminal.Count(most) + " bytes"}
	}
	return &problem{http.StatusBadRequest, "the " + what + " can't be read: " + err.Error()}
}

// permission says whether a page shows what it can do.
type permission struct {
	Act   bool   // it does
	Login string // where to log in, for it to; empty: that would not help
}

func (c *Console) permits(v *visit) permission {
	switch {
	case c.ReadOnly:
		return permission{}
	case v.who.MayAct():
		return permission{Act: true}
	}
	if c.Token == "" {
		return permission{}
	}
	return permission{Login: loginPath + "?next=" + url.QueryEscape(v.URL.RequestURI())}
}
