package console

import (
	"context"
	"io"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
	"github.com/anabranch/anabranch/personas/ask"
)

// personas are the questions about audiences and traits that brokers answer.
func (b *Brokers) personas() PersonasQuestions {
	return PersonasQuestions{
		List: func(ctx context.Context, say func(string)) ([]ask.Summary, error) {
			return ask.List(ctx, b.ofUsers(say))
		},
		Show: func(ctx context.Context, key string, say func(string)) (*ask.Details, error) {
			return ask.Show(ctx, b.ofUsers(say), key)
		},
		Members: b.members,
		Profile: func(ctx context.Context, user string, say func(string)) (*ask.Profile, error) {
			return ask.Look(ctx, b.ofUsers(say), user)
		},
		Explain: func(ctx context.Context, of ExplainOf, say func(string)) (*ask.Explanation, error) {
			return ask.Explain(ctx, b.ofUsers(say), of.Key, of.User, of.Failing)
		},
		History: func(ctx context.Context, of HistoryOf, say func(string)) (*History, error) {
			newest, all, err := ask.History(ctx, b.ofUsers(say), of.Name, ask.Span{Since: ago(time.Now(), of.Back), Newest: mostTold})
			return &History{newest, all}, err
		},
		Growth:  b.growth,
		Preview: b.preview,
		Check: func(ctx context.Context, say func(string)) (*ask.Verdict, error) {
			return ask.Check(ctx, b.ofUsers(say))
		},
		Resync: b.resync,
	}
}

// mostAside is how much of its disk the process has for a preview or a check.
const mostAside = 1 << 30

// ofUsers is where the state of users is read. It is for one question.
func (b *Brokers) ofUsers(say func(string)) *ask.Log {
	return &ask.Log{
		Kafka: b.Kafka, Topics: b.Topics, Workspace: ask.Of(b.Workspace.Load()), Aside: mostAside,
		Progress: func(done, total int64) { say("read " + terminal.Count(done) + " of " + terminal.Count(total)) },
	}
}

func (b *Brokers) members(ctx context.Context, of MembersOf, say func(string)) (*Members, error) {
	users, more, err := ask.Members(ctx, b.ofUsers(say), of.Key, ask.Page{After: of.After, Limit: perPage})
	return &Members{users, more}, err
}

func (b *Brokers) preview(ctx context.Context, written string, say func(string)) (*ask.Preview, error) {
	inForce := b.Workspace.Load()
	next, err := wsfile.Edit([]byte(written), inForce)
	if err != nil {
		return nil, err
	}
	log := b.ofUsers(say)
	log.Workspace = ask.Of(inForce)
	return ask.Changes(ctx, log, ask.Of(next), "")
}

func (b *Brokers) resync(ctx context.Context, of ask.Resyncing, say func(string)) (string, error) {
	begun := time.Now()
	done, err := ask.Resync(ctx, b.ofUsers(say), of, func(now *ask.Resynced) { say(now.Progress(time.Since(begun))) })
	if err != nil {
		if done == nil {
			return "", err
		}
		return done.String(), err
	}
	return printed(func(to io.Writer, done *ask.Resynced) error { return ask.PrintResync(to, done, of) }, done)
}
