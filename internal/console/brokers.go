package console

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/deadletters/listing"
	"github.com/anabranch/anabranch/internal/deadletters/redrive"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/messagetrace"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/runs"
	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/router/replay"
	"github.com/anabranch/anabranch/webhook-sink/testsend"
)

// Brokers are where answers are from.
type Brokers struct {
	Kafka     []kgo.Opt // what every client of the process shares
	Topics    *topics.Admin
	Addresses []string // as people know them
	Stages    pipeline.Stages
	Workspace *workspace.Live
	Keys      *regulation.Keys // of the hashes of suppressed users; nil: none
	Publisher *wstopic.Publisher
	Judge     func() replay.Judge // the rule by which calls are routed
	Sender    *testsend.Sender    // of test deliveries; nil: no webhook sink is in this process
	// Permit returns why deliveries may not go to an address, as [apply.Applier] has it.
	Permit func(netip.AddrPort) error
}

// deadSince is how far back dead letters are counted.
const deadSince = 24 * time.Hour

// FromBrokers returns the questions that brokers answer.
func FromBrokers(b *Brokers) Questions {
	q := Questions{
		Status: b.status, Deletions: b.deletions, Letters: b.letters, Letter: b.letter, Trace: b.trace, Events: b.events, Violations: b.violations, Redrive: b.redrive,
		Pause: b.pause, Resume: b.resume, PlanWorkspace: b.planWorkspace, ApplyWorkspace: b.applyWorkspace, WorkspaceHistory: b.workspaceHistory,
		Past: b.past, Forecast: b.forecast, StartReplay: b.startReplay, SteerReplay: b.steerReplay,
		Newest: b.newest, Call: b.call, Follow: b.follow, Personas: b.personas(),
	}
	if b.Sender != nil {
		q.Send = b.send
	}
	return q
}

func (b *Brokers) pause(ctx context.Context, id, by string) error {
	_, err := b.Publisher.Pause(ctx, id, by, time.Now())
	return err
}

func (b *Brokers) resume(ctx context.Context, id string) error {
	_, _, err := b.Publisher.Resume(ctx, id)
	return err
}

func (b *Brokers) status(ctx context.Context, say func(string)) (*status.Report, error) {
	under := runs.Brokers{Kafka: b.Kafka, Topics: b.Topics}
	report, err := status.Gather(ctx, status.Settings{
		Kafka: b.Kafka, Topics: b.Topics, Brokers: b.Addresses, Workspace: b.Workspace.Load(), Stages: b.Stages, DeadSince: deadSince,
		Replays: under.Replays, Imports: under.Imports, Progress: say,
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, errors.New("brokers answer, but too slowly: `anabranch doctor` checks them one by one")
	}
	return report, err
}

// users reads what is known of single users.
func (b *Brokers) users(ctx context.Context) (*regulation.Register, error) {
	users := regulation.NewRegister(b.Keys, nil)
	if _, err := wstopic.ReadWith(ctx, b.Kafka, users.Former()); err != nil {
		return nil, err
	}
	return users, wstopic.ReadRegulations(ctx, b.Kafka, users)
}

func (b *Brokers) deletions(ctx context.Context) (*Deletions, error) {
	users, err := b.users(ctx)
	if err != nil {
		return nil, err
	}
	_, unknown := users.Suppressed.Missing()
	return &Deletions{Requests: users.All(), Suppressed: users.Suppressed.Len(), Unknown: unknown}, nil
}

// dead is where dead letters are read.
func (b *Brokers) dead() *deadletters.Log {
	return &deadletters.Log{Kafka: b.Kafka, Topics: b.Topics}
}

// enough is how long dead letters are read for a list: what was found by then is shown.
const enough = time.Minute

// saidEach is after how many dead letters it is said how far a search is.
const saidEach = 1_000

func (b *Brokers) letters(ctx context.Context, of LettersOf, say func(string)) (*Letters, error) {
	timed, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	found := &Letters{}
	view, err := deadletters.Open(timed, b.dead(), of.selection(time.Now()))
	if err != nil {
		return nil, err
	}
	err = view.Each(timed, func(l *deadletters.Letter) error {
		if found.Read++; found.Read%saidEach == 0 {
			say(terminal.Count(found.Read) + " dead letters so far, up to " + terminal.Moment(l.FailedAt()))
		}
		found.take(of, l)
		return nil
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		found.Cut, err = true, nil
	}
	return found, err
}

func (b *Brokers) letter(ctx context.Context, id deadletters.ID) (*Letter, error) {
	log := b.dead()
	view, err := deadletters.Open(ctx, log, deadletters.Selection{IDs: []deadletters.ID{id}})
	if err != nil {
		return nil, err
	}
	var found *Letter
	err = view.Each(ctx, func(l *deadletters.Letter) error {
		found = newLetter(l)
		event, readErr := log.Event(ctx, l)
		if errors.Is(readErr, deadletters.ErrGone) {
			found.Gone = readErr.Error()
			return nil
		}
		if readErr == nil {
			found.Body = listing.Pretty(event.Value, math.MaxInt)
		}
		return readErr
	})
	return found, err
}

// calls is where calls are looked for. It is for one question.
func (b *Brokers) calls(say func(string)) *messagetrace.Log {
	way := b.Stages.Way()
	return &messagetrace.Log{
		Topics: b.Topics, Workspace: b.Workspace.Load(), Router: way.Router, Sink: way.Sink, Archive: way.Archive, Finished: way.Finished, Users: b.users,
		Progress: func(back time.Time, records int64) {
			text := "back to " + terminal.Moment(back)
			if records > 0 {
				text += ", " + terminal.Count(records) + " records so far"
			}
			say(text)
		},
	}
}

func (b *Brokers) trace(ctx context.Context, of CallOf, say func(string)) (*messagetrace.Trace, error) {
	return messagetrace.Find(ctx, b.calls(say), of.query(time.Now()))
}

func (b *Brokers) events(ctx context.Context, of EventsOf, say func(string)) ([]messagetrace.Event, error) {
	return messagetrace.Last(ctx, b.calls(say), of.selection(time.Now()))
}

func (b *Brokers) redrive(ctx context.Context, of RedriveOf, dryRun bool, say func(string)) (string, error) {
	selected, err := of.selection()
	if err != nil {
		return "", err
	}
	users, err := b.users(ctx)
	if err == nil {
		err = users.Suppressed.Recognised()
	}
	if err != nil {
		return "", err
	}
	var done strings.Builder
	err = redrive.Run(ctx, redrive.Settings{
		Log: b.dead(), Workspace: b.Workspace.Load(), Suppressed: users.Suppressed.Has, Out: &done, Err: lines(say),
		Selection: selected, Rate: of.Rate, DryRun: dryRun, Again: of.Again,
	})
	return done.String(), err
}

// send makes a test delivery.
func (b *Brokers) send(ctx context.Context, of SendOf, say func(string)) (*testsend.Report, error) {
	d, known := b.Workspace.Load().Destination(of.Destination)
	if !known {
		return nil, errors.New("the destination is no longer in the workspace")
	}
	event, err := b.testEvent(ctx, of, say)
	if err != nil {
		return nil, err
	}
	say("waiting for the answers")
	return b.Sender.Send(ctx, d, of.Endpoint, event)
}

func (b *Brokers) testEvent(ctx context.Context, of SendOf, say func(string)) ([]byte, error) {
	now := time.Now()
	if of.MessageID == "" {
		return testsend.Example(of.Type, now)
	}
	q := CallOf{MessageID: of.MessageID, User: of.User, Back: of.Back}
	call, searched, err := messagetrace.Stored(ctx, b.calls(say), q.query(now))
	switch {
	case err != nil:
		return nil, err
	case call == nil:
		return nil, errors.New("there is no such event: searched " + searched.Text())
	}
	return call.Value, nil
}
