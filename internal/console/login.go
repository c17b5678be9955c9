package console

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/console/internal/door"
)

const (
	loginPath  = Path + "/login"
	logoutPath = Path + "/logout"
)

// loginView is the form of the login.
type loginView struct {
	Next, Name, Problem string
	Tokens              bool // whether there is a token to log in with
}

// askIn sends to the login whoever has to. What a page has fetched by itself would be shown
// in its midst: the page is fetched again instead.
func (c *Console) askIn(w http.ResponseWriter, r *http.Request) {
	switch {
	case c.door.Locked():
		c.refuse(w, r, http.StatusForbidden, "Nobody may look here: set ADMIN_TOKEN, or ADMIN_TRUSTED_PROXIES.")
	case r.Header.Get("Hx-Request") != "":
		w.Header().Set("Hx-Refresh", "true")
		w.WriteHeader(http.StatusUnauthorized)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		c.refuse(w, r, http.StatusUnauthorized, "Log in first.")
	default:
		http.Redirect(w, r, loginPath+"?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
	}
}

func (c *Console) showLogin(w http.ResponseWriter, r *http.Request) {
	c.loginForm(w, r, http.StatusOK, loginView{Next: next(r.URL.Query().Get("next"))})
}

func (c *Console) loginForm(w http.ResponseWriter, r *http.Request, status int, view loginView) {
	if c.door.Locked() {
		c.askIn(w, r)
		return
	}
	who, _ := c.door.Visitor(r)
	view.Tokens = c.Token != ""
	c.render(w, &visit{Request: r, who: who, now: time.Now()}, status, &page{template: "login.html"}, &content{title: "Log in", view: view})
}

func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	view := loginView{Next: next(r.PostFormValue("next")), Name: r.PostFormValue("name")}
	err := c.door.Login(w, r, r.PostFormValue("token"), view.Name)
	if err == nil {
		http.Redirect(w, r, view.Next, http.StatusSeeOther)
		return
	}
	status := http.StatusUnauthorized
	switch {
	case errors.Is(err, door.ErrOften):
		status = http.StatusTooManyRequests
	case errors.Is(err, door.ErrName):
		status = http.StatusBadRequest
	}
	view.Problem = sentence(err.Error())
	c.loginForm(w, r, status, view)
}

func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	c.door.Logout(w, r)
	http.Redirect(w, r, loginPath, http.StatusSeeOther)
}

// next is where to go after the login: a page of ours, whatever was asked for.
func next(wanted string) string {
	u, err := url.Parse(wanted)
	if err != nil || u.IsAbs() || u.Host != "" || u.Opaque != "" || strings.ContainsAny(wanted, "\\\r\n") ||
		!strings.HasPrefix(u.Path, Path+"/") || path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/") || strings.HasPrefix(u.Path, loginPath) {
		return Path + "/"
	}
	return wanted
}
