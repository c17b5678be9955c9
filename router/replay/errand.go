package replay

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn"
	"github.com/anabranch/anabranch/router/replay/internal/archived"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// takeTimeout bounds the taking of a run, which fences its predecessor and so ends the
	// transaction that may have been left open.
	takeTimeout = 10 * time.Second
	// stepTimeout bounds a step, also after the stage is told to stop: the process is cut
	// off eight seconds after that.
	stepTimeout = 5 * time.Second
	// readTimeout bounds the reading for a step, of all its destinations: with a step it is
	// less than others wait before they take the run.
	readTimeout = 10 * time.Second
	// abandonAfter is when brokers may end the transaction of a process that died.
	abandonAfter = 6 * time.Second

	// idle is the longest rest between two looks: a wish is heard of at once, and room on
	// a topic is looked for this often.
	idle      = 200 * time.Millisecond
	reportDue = time.Minute
	// renewEvery is how often it is looked whose data is to be deleted.
	renewEvery = 30 * time.Second
)

// errTakenOver means that another process has the run now.
var errTakenOver = errors.New("another process has taken the replay over")

// errand is a run in this process's hands. It is used by one goroutine.
type errand struct {
	s  *Service
	id string

	token   string
	writer  *txn.Writer
	entry   *Entry // as the topic has it
	terms   terms
	legs    []*leg
	beaten  time.Time // when something was last written
	told    time.Time // when something was last logged
	renewed time.Time // when it was last looked whose data is to be deleted

	// Of all the times that it was taken.
	survey *survey
	source source
	had    map[string]byPartition // of --only missing, by destination
	holds  map[string]*hold
}

func newErrand(s *Service, id string) *errand {
	return &errand{s: s, id: id, holds: make(map[string]*hold)}
}

// carryOut takes the run and brings it to its end, or as far as it gets before ctx ends or
// somebody wants something else.
func (e *errand) carryOut(ctx context.Context) error {
	taking, cancel := context.WithTimeout(ctx, takeTimeout)
	err := e.take(taking)
	cancel()
	if e.writer != nil {
		defer e.writer.Close()
	}
	if err != nil {
		return err
	}
	e.tell("taken")
	err = e.loop(ctx)
	if lost, ok := errors.AsType[*lostError](err); ok {
		err = e.abandon(ctx, lost.why)
	}
	if errors.Is(err, archived.ErrAway) && ctx.Err() == nil {
		err = errors.Join(err, e.awaitSource(ctx, err))
	}
	e.s.metrics.waiting.Sub(float64(e.waiting(false)))
	if err == nil || ctx.Err() != nil {
		return errors.Join(err, e.release(ctx))
	}
	return err
}

// take fences whoever has the run, and returns once the book has all that they have written:
// what stands before our claim.
func (e *errand) take(ctx context.Context) (err error) {
	e.writer, err = txn.Open(ctx, TransactionalIDs+e.id, abandonAfter,
		append(slices.Clip(e.s.set.Kafka), kgo.RecordPartitioner(partitioner{kgo.StickyKeyPartitioner(nil)}))...)
	if err != nil {
		return fmt.Errorf("take replay %s: %w", e.id, err)
	}
	e.token = rand.Text()
	if err = e.claim(ctx, e.token); err != nil {
		return err
	}
	for {
		changed := e.s.book.Changed()
		if e.entry = e.s.book.Get(e.id); e.entry.Claim.Token == e.token {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait to see replay %s taken: %w", e.id, context.Cause(ctx))
		}
	}
	e.legs = nil
	for _, destination := range e.entry.Run.Destinations {
		e.legs = append(e.legs, e.leg(destination))
	}
	return nil
}

// claim writes who has the run, and what it waits for.
func (e *errand) claim(ctx context.Context, token string) error {
	c := Claim{Token: token, At: time.Now().UTC().Truncate(time.Millisecond), Trouble: make(map[string]string)}
	for _, l := range e.legs {
		if l.hold.trouble != "" && token != "" {
			c.Trouble[l.destination] = l.hold.trouble
		}
	}
	rec, err := record(&c, kindClaim, e.id)
	if err != nil {
		return err
	}
	e.beaten = time.Now()
	return fenced(e.writer.Write(ctx, []*kgo.Record{rec}))
}

// release says that nobody has the run any more, so that others need not wait.
func (e *errand) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTimeout)
	defer cancel()
	if err := e.claim(ctx, ""); err != nil && !errors.Is(err, errTakenOver) {
		return err
	}
	return nil
}

// fenced names the error that callers act on.
func fenced(err error) error {
	if kafka.Fenced(err) {
		return fmt.Errorf("%w: %w", errTakenOver, err)
	}
	return err
}

// prepare reads the range for what has to be known of all of it, once in the life of the
// process.
func (e *errand) prepare(ctx context.Context) error {
	r := &e.entry.Run
	while := func() error { return e.meanwhile(ctx) }
	from := e.s.shelves().source(r, while)
	s := &survey{
		run: r, source: from, kafka: e.s.set.Kafka, client: e.s.set.Topics.Client, journal: r.Choice.Missing,
		each: func(*kgo.Record) error { return while() }, portion: func([]int32) {},
	}
	err := from.open(ctx)
	if err == nil {
		err = from.update(ctx)
	}
	if err == nil {
		err = s.conduct(ctx)
	}
	if errors.Is(err, errInterrupted) {
		return nil // the loop does what is wanted
	}
	if err != nil {
		return lost(err)
	}
	e.survey, e.source, e.renewed, e.had = s, from, time.Now(), make(map[string]byPartition)
	for _, l := range e.legs {
		l.reader = from.reader()
	}
	for _, destination := range r.Destinations {
		e.had[destination] = s.had(destination)
	}
	return nil
}

// lost is the error of a run that can't go on for one of an archive that has changed.
func lost(err error) error {
	if errors.Is(err, archived.ErrChanged) {
		return &lostError{err.Error()}
	}
	return err
}

// awaitSource lets people see that nothing goes on while the events can't be had.
func (e *errand) awaitSource(ctx context.Context, why error) error {
	for _, l := range e.legs {
		l.hold.trouble = "waits: " + why.Error()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTimeout)
	defer cancel()
	return e.claim(ctx, e.token)
}

// errInterrupted ends what is prepared for a run that is not to go on.
var errInterrupted = errors.New("the replay is not to go on")

// meanwhile shows others now and then that the run is in hand, and looks whether it is to
// go on.
func (e *errand) meanwhile(ctx context.Context) error {
	if e.s.book.Get(e.id).Run.Wish != Running {
		return errInterrupted
	}
	return e.beat(ctx)
}

func (e *errand) beat(ctx context.Context) error {
	if time.Since(e.beaten) < beatEvery {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTimeout)
	defer cancel()
	return e.claim(ctx, e.token)
}

// loop makes step after step until the run is over, or not to go on.
func (e *errand) loop(ctx context.Context) error {
	for ctx.Err() == nil {
		changed := e.s.book.Changed()
		e.entry = e.s.book.Get(e.id)
		switch {
		case e.entry.Claim.Token != e.token:
			return errTakenOver
		case e.entry.Run.Wish == Cancelled:
			return e.abandon(ctx, "")
		case e.entry.Run.Wish == Paused:
			e.tell("paused")
			return nil
		case e.survey == nil: // it had been paused meanwhile
			if err := e.prepare(ctx); err != nil {
				return err
			}
			continue
		case e.over():
			e.tell("over")
			return nil
		}
		wait, err := e.step(ctx)
		if err == nil {
			err = e.beat(ctx)
		}
		if err != nil {
			return err
		}
		if time.Since(e.told) >= reportDue {
			e.tell("under way")
		}
		if wait > 0 {
			e.rest(ctx, changed, wait)
		}
	}
	return nil
}

func (e *errand) over() bool {
	return !slices.ContainsFunc(e.legs, func(l *leg) bool { return l.part.State == Open })
}

// rest waits, but not when something is heard of a run. What this process writes is heard
// too, so a step is followed by a look at once, as a rule.
func (e *errand) rest(ctx context.Context, changed <-chan struct{}, wait time.Duration) {
	timer := time.NewTimer(min(wait, idle))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed:
	case <-ctx.Done():
	}
}

// abandon ends what is open of the run. Why is empty for one that was cancelled.
func (e *errand) abandon(ctx context.Context, why string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTimeout)
	defer cancel()
	var all []*load
	for _, l := range e.legs {
		if some := l.load(); l.part.State == Open {
			some.part.State, some.part.Note = Abandoned, why
			all = append(all, some)
		}
	}
	if len(all) == 0 {
		return nil
	}
	if err := e.commit(ctx, all); err != nil {
		return err
	}
	e.tell(cmp.Or(why, "cancelled"))
	return nil
}

// waiting is by how many more destinations the run waits for than it did; with still false
// it waits for none any more, and the result is how many that were.
func (e *errand) waiting(still bool) (more int) {
	for _, l := range e.legs {
		now := still && l.part.State == Open && l.hold.trouble != ""
		switch {
		case !still && l.counted, still && now && !l.counted:
			more++
		case still && !now && l.counted:
			more--
		}
		l.counted = now
	}
	return more
}

// tell logs how far the run is.
func (e *errand) tell(state string) {
	e.told = time.Now()
	var sent, left int64
	var trouble []string
	for _, l := range e.legs {
		sent += l.part.Sent
		left += l.part.left(&e.entry.Run)
		if l.hold.trouble != "" {
			trouble = append(trouble, l.destination+" "+l.hold.trouble)
		}
	}
	e.s.log.Info("replay", "run", e.id, "state", state, "destinations", len(e.legs), "sent", sent, "to_read", left, "trouble", strings.Join(trouble, "; "))
}

// partitioner puts records of the topic `replays` into its partition 0, whose order is the
// order of changes, and all others where their key belongs.
type partitioner struct{ kgo.Partitioner }

// ForTopic implements kgo.Partitioner.
func (p partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	if topic == schemas.TopicReplays {
		return kgo.ManualPartitioner().ForTopic(topic)
	}
	return p.Partitioner.ForTopic(topic)
}
