package console

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/deadletters/listing"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
)

// LettersOf says which dead letters are meant: those that fulfil all of the fields that are
// set.
type LettersOf struct {
	Destination string
	Reason      schemas.Reason
	Back        time.Duration // how long ago they were given up at most
	Text        string        // what the messageId, the user, the detail or the event holds, in this case
}

// selection is what of that is decided by headers.
func (of *LettersOf) selection(now time.Time) deadletters.Selection {
	return deadletters.Selection{Destination: of.Destination, Reason: of.Reason, Since: ago(now, of.Back)}
}

// Letters are what a search found. Make it by Take.
type Letters struct {
	Read  int64 // dead letters that were looked at
	Found int64 // of those, that have the text
	Cut   bool  // whether time ran out before all was read
	// Newest are the last of those that were found, the oldest first.
	Newest []LetterLine

	groups map[letterGroup]*letterCount
}

// letterGroup is what dead letters are counted by.
type letterGroup struct{ destination, reason string }

type letterCount struct{ all, redriven int64 }

// LetterLine is a dead letter in a list.
type LetterLine struct {
	ID                                                         string
	FailedAt, RedrivenAt                                       time.Time
	Destination, Reason, Type, MessageID, User, Detail, Source string
	Attempts                                                   int
}

// mostLetters is how many are listed.
const mostLetters = 500

// take looks at the next dead letter.
func (f *Letters) take(of LettersOf, l *deadletters.Letter) {
	if of.Text != "" && !hasText(l, of.Text) {
		return
	}
	if f.groups == nil {
		f.groups = make(map[letterGroup]*letterCount)
	}
	f.Found++
	group := letterGroup{l.Headers.Destination, string(l.Headers.Reason)}
	if f.groups[group] == nil {
		f.groups[group] = new(letterCount)
	}
	f.groups[group].all++
	if !l.RedrivenAt.IsZero() {
		f.groups[group].redriven++
	}
	if len(f.Newest) >= 2*mostLetters {
		f.Newest = append(f.Newest[:0], f.Newest[len(f.Newest)-mostLetters:]...)
	}
	f.Newest = append(f.Newest, lineOf(l))
}

// largest are the groups with the most dead letters, in the order of their names.
func (f *Letters) largest(most int) []letterGroup {
	byName := func(a, b letterGroup) int {
		return cmp.Or(cmp.Compare(a.destination, b.destination), cmp.Compare(a.reason, b.reason))
	}
	all := slices.SortedFunc(maps.Keys(f.groups), func(a, b letterGroup) int {
		return cmp.Or(cmp.Compare(f.groups[b].all, f.groups[a].all), byName(a, b))
	})
	all = all[:min(most, len(all))]
	slices.SortFunc(all, byName)
	return all
}

func lineOf(l *deadletters.Letter) LetterLine {
	h := &l.Headers
	line := LetterLine{
		ID: l.ID.String(), FailedAt: l.FailedAt(), RedrivenAt: l.RedrivenAt, Destination: h.Destination, Reason: string(h.Reason),
		Type: string(h.Type), MessageID: h.MessageID, User: string(l.Record.Key), Detail: h.Detail, Source: h.Source, Attempts: h.Attempt,
	}
	if l.Unreadable != nil {
		line.Detail = l.Unreadable.Error()
	}
	return line
}

func hasText(l *deadletters.Letter, text string) bool {
	return strings.Contains(l.Headers.MessageID, text) || strings.Contains(l.Headers.Detail, text) ||
		bytes.Contains(l.Record.Key, []byte(text)) || bytes.Contains(l.Record.Value, []byte(text))
}

// deadLettersView is a search for dead letters.
type deadLettersView struct {
	progress
	pager

	Destination, Text      string
	Reason, Since          string
	Reasons, Backs         []option
	Groups                 []groupRow
	MoreGroups             int // with fewer dead letters than those
	Rows                   []letterRow
	FoundText, Read, Shown string
	Redrive                string // URL of a plan for them; empty: a redrive goes by no text
	Cut                    bool
}

// groupRow counts what was given up at a destination for a reason.
type groupRow struct{ Destination, Reason, Letters, Redriven string }

// letterRow is a dead letter in the list.
type letterRow struct {
	ID, FailedAt, Destination, Reason, Type, MessageID, User, Detail, RedrivenAt string
	Attempts                                                                     int
}

// reasons are what can be chosen of.
func reasons() []option {
	known := schemas.Reasons()
	all := make([]option, 1+len(known))
	all[0].Text = "any reason"
	for i, r := range known {
		all[1+i] = option{string(r), string(r)}
	}
	return all
}

// maxSearch bounds what is looked for, in bytes.
const maxSearch = 1000

// deadLetters searches dead letters.
func (c *Console) deadLetters(v *visit) (*content, error) {
	view := deadLettersView{Destination: strings.TrimSpace(v.text("destination")), Text: v.text("q"), Reasons: reasons(), Backs: backs()}
	of := LettersOf{Destination: view.Destination, Text: view.Text}
	var err error
	if view.Since, of.Back, err = v.back(); err != nil {
		return nil, err
	}
	if view.Reason, err = v.choice("reason", view.Reasons); err != nil {
		return nil, err
	}
	of.Reason = schemas.Reason(view.Reason)
	if of.Text == "" {
		view.Redrive = Path + "/redrive?" + url.Values{"destination": {view.Destination}, "reason": {view.Reason}, "since": {view.Since}}.Encode()
	}
	selected := of.selection(v.now)
	if err = selected.Validate(); err != nil || len(of.Text) > maxSearch {
		return nil, &problem{http.StatusBadRequest, cmp.Or(text(err), "what is looked for has more than "+strconv.Itoa(maxSearch)+" bytes")}
	}
	a := c.asked.letters.Ask(v.Context(), of)
	view.progress = progressOf(&a, v.now)
	if a.Known() {
		view.fill(a.Value, v.text("page"))
		view.link(v.URL)
	}
	return &content{title: "Dead letters", again: again(&a, 0), view: view}, nil
}

// text is that of an error, empty for none.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (d *deadLettersView) fill(found *Letters, number string) {
	d.FoundText, d.Read, d.Cut = terminal.Count(found.Found), terminal.Count(found.Read), found.Cut
	groups := found.largest(perPage)
	d.MoreGroups = len(found.groups) - len(groups)
	for _, g := range groups {
		n := found.groups[g]
		d.Groups = append(d.Groups, groupRow{g.destination, g.reason, terminal.Count(n.all), terminal.Count(n.redriven)})
	}
	newest := found.Newest[max(0, len(found.Newest)-mostLetters):]
	if int64(len(newest)) < found.Found {
		d.Shown = terminal.Count(int64(len(newest)))
	}
	newest = slices.Clone(newest)
	slices.Reverse(newest)
	newest, d.pager = paged(newest, number)
	for i := range newest {
		l := &newest[i]
		d.Rows = append(d.Rows, letterRow{
			ID: l.ID, FailedAt: terminal.Moment(l.FailedAt), RedrivenAt: terminal.Moment(l.RedrivenAt), Destination: l.Destination, Reason: l.Reason,
			Type: l.Type, MessageID: l.MessageID, User: l.User, Detail: l.Detail, Attempts: l.Attempts,
		})
	}
}

// Letter is all that is known of one dead letter.
type Letter struct {
	Line  LetterLine
	Facts []listing.Fact
	Body  string // the event, as JSON over several lines
	Gone  string // why there is none; empty: there is
	// Answer is what the endpoint said to the last attempt; empty: that is not known.
	Answer string
}

func newLetter(l *deadletters.Letter) *Letter {
	return &Letter{Line: lineOf(l), Facts: listing.Facts(l, math.MaxInt), Answer: listing.Answer(l)}
}

// letterView is the page of one dead letter.
type letterView struct {
	progress
	*Letter

	ID string
}

// deadLetter asks for one dead letter.
func (c *Console) deadLetter(v *visit) (*content, error) {
	id, err := deadletters.ParseID(v.text("id"))
	if err != nil {
		return nil, &problem{http.StatusBadRequest, err.Error()}
	}
	a := c.asked.letter.Ask(v.Context(), id)
	view := letterView{progress: progressOf(&a, v.now), Letter: a.Value, ID: id.String()}
	return &content{title: "Dead letter " + view.ID, again: again(&a, 0), view: view}, nil
}
