package console

import (
	"context"
	"time"

	"github.com/anabranch/anabranch/internal/apply"
	"github.com/anabranch/anabranch/internal/console/internal/asking"
	"github.com/anabranch/anabranch/internal/console/internal/tail"
	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/messagetrace"
	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/router/replay"
	"github.com/anabranch/anabranch/webhook-sink/testsend"
)

// Questions are what pages ask. Each may take long, and is told to give up by ctx; what it
// says meanwhile is shown.
type Questions struct {
	Status    func(ctx context.Context, say func(string)) (*status.Report, error)
	Deletions func(ctx context.Context) (*Deletions, error)
	Letters   func(ctx context.Context, of LettersOf, say func(string)) (*Letters, error)
	Letter    func(ctx context.Context, id deadletters.ID) (*Letter, error)
	Trace     func(ctx context.Context, of CallOf, say func(string)) (*messagetrace.Trace, error)
	Events    func(ctx context.Context, of EventsOf, say func(string)) ([]messagetrace.Event, error)
	// Violations counts what tracking plans had against calls.
	Violations func(ctx context.Context, of ViolationsOf, say func(string)) (*Violations, error)
	// Newest are the newest calls of those that somebody wants to see, the newest first.
	Newest func(ctx context.Context, of tail.Wanted, say func(string)) ([]*tail.Call, error)
	Call   func(ctx context.Context, at CallAt) (*tail.Call, error)
	// Follow reads calls as they come.
	Follow   tail.Read
	Personas PersonasQuestions
	// Redrive sends dead letters again and returns what was done, or, with dryRun, what would
	// be.
	Redrive func(ctx context.Context, of RedriveOf, dryRun bool, say func(string)) (string, error)
	// Pause has nothing sent to a destination, by the word of a person, and Resume has it
	// delivered to again. What can't be paused is a [wstopic.ErrPause].
	Pause  func(ctx context.Context, id, by string) error
	Resume func(ctx context.Context, id string) error
	// Past is all that is known of replays and imports.
	Past func(ctx context.Context) (*Past, error)
	// Forecast says what a replay would do, StartReplay asks for it and returns its id, and
	// SteerReplay changes what is wanted of one.
	Forecast    func(ctx context.Context, of ReplayOf, say func(string)) (*replay.Forecast, error)
	StartReplay func(ctx context.Context, of ReplayOf) (id string, err error)
	SteerReplay func(ctx context.Context, id string, change ReplayChange) error
	// Send makes a test delivery. Nil: no webhook sink is in this process.
	Send func(ctx context.Context, of SendOf, say func(string)) (*testsend.Report, error)
	// PlanWorkspace says what a workspace would change, and ApplyWorkspace puts a plan in force
	// and returns what it did, unless the workspace has changed since ([wstopic.ErrChanged]).
	PlanWorkspace  func(ctx context.Context, next *workspace.Snapshot) (*WorkspacePlan, error)
	ApplyWorkspace func(ctx context.Context, plan *apply.Plan, say func(string)) (string, error)
	// WorkspaceHistory is who put what in force.
	WorkspaceHistory func(ctx context.Context) (*WorkspaceHistory, error)
}

// asked are the questions that are being asked, and what came of them.
type asked struct {
	status    *asking.Shared[struct{}, *status.Report]
	deletions *asking.Shared[struct{}, *Deletions]
	letters   *asking.Shared[LettersOf, *Letters]
	letter    *asking.Shared[deadletters.ID, *Letter]
	trace     *asking.Shared[CallOf, *messagetrace.Trace]
	events    *asking.Shared[EventsOf, []messagetrace.Event]
	newest    *asking.Shared[tail.Wanted, []*tail.Call]
	call      *asking.Shared[CallAt, *tail.Call]
	personas  askedPersonas
	workspace askedWorkspace
	redrive   *asking.Shared[RedriveOf, string] // what it would do
	past      *asking.Shared[struct{}, *Past]
	forecast  *asking.Shared[ReplayOf, *replay.Forecast]
}

const (
	// fresh is how long an answer is given without asking again.
	fresh = 4 * time.Second
	// kept is how long what was found is, so that its pages can be turned.
	kept = 10 * time.Second
	// patience is how long a page waits for an answer before it says what it waits for.
	patience = 150 * time.Millisecond
	// soon is when a page is looked at again that waits for an answer.
	soon = time.Second
	// quick is how long an answer may take that a command would give up on too.
	quick = 30 * time.Second
	// slow is how long a search may take.
	slow = 5 * time.Minute
	// searches are how many are remembered of each kind. As many may be under way.
	searches = 8
)

func newAsked(q Questions) *asked {
	one := asking.Options{Fresh: fresh, Deadline: quick, Patience: patience, Most: 1}
	search := asking.Options{Fresh: kept, Deadline: slow, Patience: patience, Most: searches}
	return &asked{
		status:    asking.New(one, unspecified(q.Status)),
		deletions: asking.New(one, alone(q.Deletions)),
		letters:   asking.New(search, q.Letters),
		letter: asking.New(asking.Options{Fresh: fresh, Deadline: quick, Patience: patience, Most: searches},
			func(ctx context.Context, id deadletters.ID, _ func(string)) (*Letter, error) {
				return q.Letter(ctx, id)
			}),
		trace:  asking.New(asking.Options{Fresh: fresh, Deadline: slow, Patience: patience, Most: searches}, q.Trace),
		events: asking.New(search, q.Events),
		newest: asking.New(asking.Options{Fresh: soon, Deadline: slow, Patience: patience, Most: searches}, q.Newest),
		call: asking.New(asking.Options{Fresh: kept, Deadline: quick, Patience: patience, Most: searches},
			func(ctx context.Context, at CallAt, _ func(string)) (*tail.Call, error) {
				return q.Call(ctx, at)
			}),
		personas: newAskedPersonas(&q.Personas), workspace: newAskedWorkspace(&q),
		past:     asking.New(asking.Options{Fresh: soon, Deadline: quick, Patience: patience, Most: 1}, alone(q.Past)),
		forecast: asking.New(search, q.Forecast),
		redrive: asking.New(search, func(ctx context.Context, of RedriveOf, say func(string)) (string, error) {
			return q.Redrive(ctx, of, true, say)
		}),
	}
}

// alone is a question without any details.
func alone[V any](ask func(context.Context) (V, error)) asking.Func[struct{}, V] {
	return func(ctx context.Context, _ struct{}, _ func(string)) (V, error) { return ask(ctx) }
}

// close gives up what is being asked.
func (a *asked) close() {
	for _, all := range []interface{ Close() }{a.status, a.deletions, a.letters, a.letter, a.trace, a.events, a.newest, a.call, a.redrive, a.past, a.forecast} {
		all.Close()
	}
	a.personas.close()
	a.workspace.close()
}

// progress is how far a question is, in words.
type progress struct {
	Known   bool   // whether there is an answer to show
	Asking  string // what is being done; empty: nothing
	AsOf    string // when the answer was true
	Problem string // why it could not be had, or not once more
}

// progressOf says how far a question is.
func progressOf[V any](a *asking.Answer[V], now time.Time) progress {
	p := progress{Known: a.Known()}
	if a.Known() {
		p.AsOf = terminal.Moment(a.At)
	}
	if a.Asking {
		p.Asking = "Asking the brokers for " + terminal.Brief(now.Sub(a.Since))
		if a.Said != "" {
			p.Asking += ": " + a.Said
		}
	}
	if a.Err != nil {
		p.Problem = sentence(kafka.Advised(a.Err).Error())
	}
	return p
}

// again is when a page that shows an answer should be looked at again: soon while it waits,
// otherwise when pages of its kind are, which may be never.
func again[V any](a *asking.Answer[V], otherwise time.Duration) time.Duration {
	if a.Asking {
		return soon
	}
	return otherwise
}
