package console

import (
	"context"
	"time"

	"github.com/anabranch/anabranch/internal/console/internal/asking"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/internal/terminal"
)

// Questions are what pages ask. Each may take long, and is told to give up by ctx; what it
// says meanwhile is shown.
type Questions struct {
	Status func(ctx context.Context) (*status.Report, error)
}

// asked are the questions that are being asked, and what came of them.
type asked struct {
	status *asking.Shared[struct{}, *status.Report]
}

const (
	// fresh is how long an answer is given without asking again.
	fresh = 4 * time.Second
	// patience is how long a page waits for an answer before it says what it waits for.
	patience = 150 * time.Millisecond
	// soon is when a page is looked at again that waits for an answer.
	soon = time.Second
	// quick is how long an answer may take that a command would give up on too.
	quick = 30 * time.Second
)

func newAsked(q Questions) *asked {
	return &asked{
		status: asking.New(asking.Options{Fresh: fresh, Deadline: quick, Patience: patience, Most: 1}, alone(q.Status)),
	}
}

// alone is a question without any details.
func alone[V any](ask func(context.Context) (V, error)) asking.Func[struct{}, V] {
	return func(ctx context.Context, _ struct{}, _ func(string)) (V, error) { return ask(ctx) }
}

// close gives up what is being asked.
func (a *asked) close() { a.status.Close() }

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
// else by and by, if it is one that does.
func again[V any](a *asking.Answer[V], otherwise time.Duration) time.Duration {
	if a.Asking || !a.Known() {
		return soon
	}
	return otherwise
}
