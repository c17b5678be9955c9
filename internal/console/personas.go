package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/console/internal/asking"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/personas/ask"
)

// PersonasQuestions are those about audiences and computed traits, as [Questions] are.
type PersonasQuestions struct {
	List    func(ctx context.Context, say func(string)) ([]ask.Summary, error)
	Show    func(ctx context.Context, key string, say func(string)) (*ask.Details, error)
	Members func(ctx context.Context, of MembersOf, say func(string)) (*Members, error)
	Profile func(ctx context.Context, user string, say func(string)) (*ask.Profile, error)
	Explain func(ctx context.Context, of ExplainOf, say func(string)) (*ask.Explanation, error)
	History func(ctx context.Context, of HistoryOf, say func(string)) (*History, error)
	// Growth is how an audience grew.
	Growth func(ctx context.Context, of GrowthOf, say func(string)) (*Growth, error)
	// Preview is what definitions would change that have been written, as [wsfile.Edit] reads
	// them.
	Preview func(ctx context.Context, written string, say func(string)) (*ask.Preview, error)
	Check   func(ctx context.Context, say func(string)) (*ask.Verdict, error)
	// Resync has a destination told once more, and returns what was done, or, with DryRun, what
	// would be.
	Resync func(ctx context.Context, of ask.Resyncing, say func(string)) (string, error)
}

// askedPersonas are those questions that are being asked, and what came of them.
type askedPersonas struct {
	list    *asking.Shared[struct{}, []ask.Summary]
	show    *asking.Shared[string, *ask.Details]
	members *asking.Shared[MembersOf, *Members]
	profile *asking.Shared[string, *ask.Profile]
	explain *asking.Shared[ExplainOf, *ask.Explanation]
	history *asking.Shared[HistoryOf, *History]
	growth  *asking.Shared[GrowthOf, *Growth]
	preview *asking.Shared[string, *ask.Preview]
	check   *asking.Shared[struct{}, *ask.Verdict]
	resync  *asking.Shared[ask.Resyncing, string] // what it would do
}

// patient is how long what reads all of raw-events may take.
const patient = time.Hour

func newAskedPersonas(q *PersonasQuestions) askedPersonas {
	one := asking.Options{Fresh: kept, Deadline: patient, Patience: patience, Most: 1}
	search := asking.Options{Fresh: kept, Deadline: slow, Patience: patience, Most: searches}
	long := asking.Options{Fresh: kept, Deadline: patient, Patience: patience, Most: 2}
	return askedPersonas{
		list: asking.New(one, unspecified(q.List)), show: asking.New(search, q.Show), members: asking.New(search, q.Members),
		profile: asking.New(search, q.Profile), explain: asking.New(search, q.Explain), history: asking.New(search, q.History),
		growth:  asking.New(search, q.Growth),
		preview: asking.New(long, q.Preview), check: asking.New(one, unspecified(q.Check)), resync: asking.New(search, q.Resync),
	}
}

// unspecified is a question without any details.
func unspecified[V any](ask func(context.Context, func(string)) (V, error)) asking.Func[struct{}, V] {
	return func(ctx context.Context, _ struct{}, say func(string)) (V, error) { return ask(ctx, say) }
}

func (a *askedPersonas) close() {
	for _, all := range []interface{ Close() }{a.list, a.show, a.members, a.profile, a.explain, a.history, a.growth, a.preview, a.check, a.resync} {
		all.Close()
	}
}

// personasView is all audiences and computed traits.
type personasView struct {
	progress
	pager
	following

	Search string
	Rows   []personaRow
}

// personaRow is one of them.
type personaRow struct{ Key, Kind, Name, Version, Phase, Size, Entered, Left, Filled string }

// following is whether a page comes back by itself, and the links to have it do so or not.
type following struct {
	Follows bool
	Other   string // URL of the same page, the other way
}

func followingOf(v *visit) following {
	f := following{Follows: v.text("follow") != ""}
	query := v.URL.Query()
	query.Del("follow")
	if !f.Follows {
		query.Set("follow", "1")
	}
	f.Other = v.URL.Path + "?" + query.Encode()
	return f
}

// again is when a page that shows an answer is looked at again.
func (f *following) again(asking time.Duration) time.Duration {
	if f.Follows && asking == 0 {
		return byAndBy
	}
	return asking
}

// personas lists audiences and computed traits.
func (c *Console) personas(v *visit) (*content, error) {
	view := personasView{Search: v.text("q"), following: followingOf(v)}
	a := c.asked.personas.list.Ask(v.Context(), struct{}{})
	view.progress = progressOf(&a, v.now)
	if a.Known() {
		view.fill(a.Value, v.text("page"))
		view.link(v.URL)
	}
	return &content{title: "Audiences and traits", again: view.again(again(&a, 0)), view: view}, nil
}

func (p *personasView) fill(all []ask.Summary, number string) {
	search := strings.ToLower(p.Search)
	all = slices.DeleteFunc(slices.Clone(all), func(s ask.Summary) bool {
		return !strings.Contains(strings.ToLower(s.Key), search) && !strings.Contains(strings.ToLower(s.Name), search)
	})
	all, p.pager = paged(all, number)
	for i := range all {
		p.Rows = append(p.Rows, personaRowOf(&all[i]))
	}
}

func personaRowOf(s *ask.Summary) personaRow {
	return personaRow{
		Key: s.Key, Kind: ask.KindText(s.Kind), Name: s.Name, Version: strconv.Itoa(s.Version), Phase: string(s.Phase),
		Size: terminal.Count(s.Size), Entered: terminal.Count(s.Entered), Left: terminal.Count(s.Left), Filled: s.Filled(),
	}
}

// personaView is one audience or computed trait.
type personaView struct {
	progress
	permission
	following

	Key          string
	Row          personaRow
	Audience     bool
	Definition   string // as a workspace file has it
	Versions     []versionRow
	Partitions   []partitionRow
	Differences  string   // between two versions, as the command prints them
	Destinations []string // that are told of definitions
	Many         bool     // there are too many of them for a list
}

// versionRow is a version, and what differs from the one before it.
type versionRow struct{ Number, Applied, Changed, Compare string }

// partitionRow is how far a partition is.
type partitionRow struct {
	Number                   int32
	Phase, Done, Total, Till string
}

// persona shows one audience or computed trait.
func (c *Console) persona(v *visit) (*content, error) {
	key := v.text("key")
	if key == "" || len(key) > maxSearch {
		return nil, &problem{http.StatusBadRequest, "expected the key of an audience or a computed trait"}
	}
	inForce := c.Workspace.Load()
	view := personaView{Key: key, permission: c.permits(v), following: followingOf(v), Destinations: told(inForce)}
	view.Many = len(view.Destinations) > perPage
	w := ask.Of(inForce)
	if err := view.define(&w, v.text("from"), v.text("to")); err != nil {
		return nil, err
	}
	a := c.asked.personas.show.Ask(v.Context(), key)
	view.progress = progressOf(&a, v.now)
	if a.Known() {
		if err := view.fill(a.Value); err != nil {
			return nil, err
		}
	}
	return &content{title: key, again: view.again(again(&a, 0)), view: view}, nil
}

// told are the destinations that are told of audiences and computed traits.
func told(s *workspace.Snapshot) (ids []string) {
	for _, d := range s.Destinations() {
		if d.Enabled && d.Connected(workspace.SourcePersonas) {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// define shows the definition in force, and what differs between two versions of it.
func (p *personaView) define(w *ask.Workspace, from, to string) error {
	inForce, err := ask.VersionOf(w, p.Key, 0)
	if err != nil {
		return &problem{http.StatusNotFound, err.Error()}
	}
	if p.Definition, err = printed(ask.PrintVersion, inForce); err != nil || from == "" {
		return err
	}
	numbers := [2]int{}
	for i, text := range []string{from, to} {
		if numbers[i], err = strconv.Atoi(text); err != nil || numbers[i] < 1 {
			return &problem{http.StatusBadRequest, "expected the numbers of two versions, from 1 on"}
		}
	}
	edit, err := ask.Compare(w, p.Key, numbers[0], numbers[1])
	if err != nil {
		return &problem{http.StatusNotFound, err.Error()}
	}
	p.Differences, err = printed(ask.PrintEdit, edit)
	return err
}

func (p *personaView) fill(d *ask.Details) error {
	p.Row = personaRowOf(&d.Summary)
	p.Audience = p.Row.Kind == "audience"
	changes, err := d.Changes()
	if err != nil {
		return err
	}
	for i, version := range d.Versions {
		row := versionRow{Number: strconv.Itoa(version.Version), Applied: momentOf(version.Applied), Changed: changes[i]}
		if i+1 < len(d.Versions) {
			query := url.Values{"key": {p.Key}, "from": {strconv.Itoa(d.Versions[i+1].Version)}, "to": {row.Number}}
			row.Compare = Path + "/persona?" + query.Encode() + "#differences"
		}
		p.Versions = append(p.Versions, row)
	}
	for i := range d.Partitions {
		one := &d.Partitions[i]
		p.Partitions = append(p.Partitions, partitionRow{one.Partition, string(one.Phase), terminal.Count(one.Done), terminal.Count(one.Total), momentOf(one.ETA)})
	}
	return nil
}

func momentOf(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return terminal.Moment(*t)
}
