package console

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/personas/ask"
)

// MembersOf says which members of an audience are wanted.
type MembersOf struct {
	Key   string
	After string // those behind this user; empty: from the first one on
}

// Members are a page of those of an audience.
type Members struct {
	Users []ask.Member
	More  bool
}

// ExplainOf says what is to be explained of whom.
type ExplainOf struct {
	Key, User string
	Failing   bool // only what keeps the user out
}

// HistoryOf says which changes are wanted that were told.
type HistoryOf struct {
	Name string // a key or a user
	Back time.Duration
}

// History is what was told of a key or of a user.
type History struct {
	Newest []ask.Told // [mostTold] at most, the oldest of them first
	All    int64      // how many there are
}

// mostTold is how many changes are listed that were told.
const mostTold = 1000

// membersView is a page of an audience's members.
type membersView struct {
	progress

	Key, After string
	Rows       []memberRow
	First      string // URL of the first page; empty: it is this one
	Next       string // URL of the next; empty: there is none
}

type memberRow struct{ User, Since string }

// ofSearch is a field that is looked for.
func (v *visit) ofSearch(name, what string, needed bool) (string, error) {
	text := v.text(name)
	switch {
	case text == "" && needed:
		return "", &problem{http.StatusBadRequest, "expected " + what}
	case len(text) > maxSearch:
		return "", &problem{http.StatusBadRequest, what + " has more than " + strconv.Itoa(maxSearch) + " bytes"}
	}
	return text, nil
}

// members lists those of an audience.
func (c *Console) members(v *visit) (*content, error) {
	key, err := v.ofSearch("key", "the key of an audience", true)
	if err != nil {
		return nil, err
	}
	after, err := v.ofSearch("after", "the user", false)
	if err != nil {
		return nil, err
	}
	view := membersView{Key: key, After: after}
	a := c.asked.personas.members.Ask(v.Context(), MembersOf{key, after})
	view.progress = progressOf(&a, v.now)
	if a.Known() {
		view.fill(a.Value)
	}
	return &content{title: "Members of " + key, again: again(&a, 0), view: view}, nil
}

func (m *membersView) fill(found *Members) {
	page := func(after string) string {
		query := url.Values{"key": {m.Key}}
		if after != "" {
			query.Set("after", after)
		}
		return Path + "/members?" + query.Encode()
	}
	for _, one := range found.Users {
		m.Rows = append(m.Rows, memberRow{one.UserID, terminal.Moment(one.Since)})
	}
	if m.After != "" {
		m.First = page("")
	}
	if found.More {
		m.Next = page(found.Users[len(found.Users)-1].UserID)
	}
}

// profileView is what is known of a user.
type profileView struct {
	progress

	User                    string
	Merged, Deleted         string
	First, Last, Clock      string
	Sources, Links, Refused []string
	Traits, Computed        []valueRow
	Audiences               []membershipRow
}

// valueRow is a value in JSON, as it is stored.
type valueRow struct{ Name, Value string }

type membershipRow struct {
	Key    string
	Member bool
	Since  string
}

// profile shows one user.
func (c *Console) profile(v *visit) (*content, error) {
	user, err := v.ofSearch("user", "the id of a user", true)
	if err != nil {
		return nil, err
	}
	view := profileView{User: user}
	a := c.asked.personas.profile.Ask(v.Context(), user)
	view.progress = progressOf(&a, v.now)
	if a.Known() {
		view.fill(a.Value)
	}
	return &content{title: "User " + user, again: again(&a, 0), view: view}, nil
}

func (p *profileView) fill(found *ask.Profile) {
	p.Merged, p.Deleted = found.MergedInto, found.Deleted
	p.First, p.Last, p.Clock = momentOf(found.FirstSeen), momentOf(found.LastSeen), terminal.Moment(found.AsOf)
	p.Sources, p.Links, p.Refused = found.Sources, found.Links, found.Refused
	for _, path := range slices.Sorted(maps.Keys(found.Traits)) {
		p.Traits = append(p.Traits, valueRow{path, string(found.Traits[path])})
	}
	for _, key := range slices.Sorted(maps.Keys(found.Computed)) {
		p.Computed = append(p.Computed, valueRow{key, string(found.Computed[key])})
	}
	for _, key := range slices.Sorted(maps.Keys(found.Audiences)) {
		one := found.Audiences[key]
		p.Audiences = append(p.Audiences, membershipRow{key, one.Member, terminal.Moment(one.Since)})
	}
}

// explainView is why a user is in an audience or not, or how a value comes about.
type explainView struct {
	progress

	Key, User string
	Failing   bool
	Verdict   string
	Clock     string
	Tree      []nodeView // of one node; empty: nothing fails
	Deleted   string     // offsets that retention has deleted; empty: none
}

// nodeView is a node of a definition's tree.
type nodeView struct {
	Text, Holds, Value, Expected, Flips string
	Calls                               []valueRow // messageIds of the newest that count, and their traces
	More                                string     // how many more; empty: none
	Children                            []nodeView
}

// mostCounted is how many calls are named for each node.
const mostCounted = 20

// explain shows a tree.
func (c *Console) explain(v *visit) (*content, error) {
	key, err := v.ofSearch("key", "the key of an audience or a computed trait", true)
	if err != nil {
		return nil, err
	}
	user, err := v.ofSearch("user", "the id of a user", true)
	if err != nil {
		return nil, err
	}
	view := explainView{Key: key, User: user, Failing: v.text("only") == "failing"}
	a := c.asked.personas.explain.Ask(v.Context(), ExplainOf{key, user, view.Failing})
	view.progress = progressOf(&a, v.now)
	if a.Known() {
		view.fill(a.Value)
	}
	return &content{title: key + " of " + user, again: again(&a, 0), view: view}, nil
}

func (e *explainView) fill(found *ask.Explanation) {
	e.Verdict, e.Clock = found.Verdict(), terminal.Moment(found.AsOf)
	if found.Tree != nil {
		e.Tree = []nodeView{nodeOf(found.Tree, e.User)}
	}
	if found.Deleted > 0 {
		e.Deleted = terminal.Count(found.Deleted)
	}
}

func nodeOf(n *ask.Node, user string) nodeView {
	view := nodeView{Text: n.Node, Holds: "does not hold", Value: string(n.Value), Expected: n.Expected()}
	if n.Holds {
		view.Holds = "holds"
	}
	if n.FlipsAt != nil {
		view.Flips = terminal.Moment(*n.FlipsAt)
	}
	counted := n.MessageIDs
	if more := len(counted) - mostCounted; more > 0 {
		view.More, counted = terminal.Count(int64(more)), counted[more:]
	}
	for _, id := range counted {
		query := url.Values{"id": {id}, "user": {user}, "since": {"720h"}}
		view.Calls = append(view.Calls, valueRow{id, Path + "/event?" + query.Encode()})
	}
	for _, child := range n.Children {
		view.Children = append(view.Children, nodeOf(child, user))
	}
	return view
}

// historyView is what was told of a key or of a user, the latest first.
type historyView struct {
	progress
	pager

	Name, Since string
	Backs       []option
	Rows        []toldRow
	Shown, All  string // how many are listed, the newest, of how many; empty: all are
}

type toldRow struct{ At, User, Key, Value, Version, Cause, MessageID, Trace string }

// history lists what was told.
func (c *Console) history(v *visit) (*content, error) {
	name, err := v.ofSearch("name", "the key of an audience or a computed trait, or the id of a user", true)
	if err != nil {
		return nil, err
	}
	view := historyView{Name: name, Backs: backs()}
	of := HistoryOf{Name: name}
	if view.Since, of.Back, err = v.back(); err != nil {
		return nil, err
	}
	a := c.asked.personas.history.Ask(v.Context(), of)
	view.progress = progressOf(&a, v.now)
	if a.Known() {
		view.fill(a.Value, v.text("page"))
		view.link(v.URL)
	}
	return &content{title: "What was told of " + name, again: again(&a, 0), view: view}, nil
}

func (h *historyView) fill(found *History, number string) {
	if listed := int64(len(found.Newest)); listed < found.All {
		h.Shown, h.All = terminal.Count(listed), terminal.Count(found.All)
	}
	all := slices.Clone(found.Newest)
	slices.Reverse(all)
	all, h.pager = paged(all, number)
	for i := range all {
		t := &all[i]
		query := url.Values{"id": {t.MessageID}, "user": {t.UserID}, "since": {h.Since}}
		h.Rows = append(h.Rows, toldRow{
			At: terminal.Moment(t.At), User: t.UserID, Key: t.Key, Value: string(t.Value), Version: strconv.Itoa(t.Version), Cause: t.Cause,
			MessageID: t.MessageID, Trace: Path + "/event?" + query.Encode(),
		})
	}
}
