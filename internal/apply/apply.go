// Package apply puts a workspace file in force, or says what that would change.
package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
	"github.com/anabranch/anabranch/internal/workspace/wsseal"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/schemas"
)

// Applier applies a workspace file.
type Applier struct {
	Out   io.Writer
	Kafka []kgo.Opt
	// Keys encrypt the secrets of destinations. Nil: they are written in the clear.
	Keys *wsseal.Ring
	// Clear says that they are written in the clear even so.
	Clear bool
	// By is who applies it; empty: not known.
	By string
	// Await returns once the brokers answer, and whether they are an embedded one, which
	// settings that name its address don't say.
	Await func(ctx context.Context) (embedded bool, err error)
	// Ensure returns once topics exist. Of many it tells on the way how many of those
	// that were missing do.
	Ensure func(ctx context.Context, exports map[string]schemas.Export, progress func(done, total int), topics ...string) error
	// Permit returns why deliveries may not go to an address.
	Permit func(netip.AddrPort) error
	// Terminal is true when Out is one, Embedded for the embedded broker.
	Terminal, Embedded bool
}

// Apply validates the file, before anything is asked of a broker, puts it in
// force and prints what changed. With dryRun it prints what would change, or,
// when the broker does not answer, that the file is valid and no more is known.
func (a *Applier) Apply(ctx context.Context, file string, dryRun bool) error {
	next, err := wsfile.Load(file, wsfile.SystemLookup())
	if err != nil {
		return err
	}
	if dryRun {
		return a.preview(ctx, file, next)
	}
	if err = a.warn(file, next); err != nil {
		return err
	}
	return a.put(ctx, file, next, func(p *wstopic.Publisher) ([]workspace.Change, error) { return p.Apply(ctx, next) })
}

// Confirm puts a plan in force and prints what changed, as Apply does. The error is a
// [wstopic.ErrChanged] where something else has been put in force since the plan was made.
func (a *Applier) Confirm(ctx context.Context, file string, plan *Plan) error {
	return a.put(ctx, file, plan.Next, func(p *wstopic.Publisher) ([]workspace.Change, error) {
		p.By = cmp.Or(plan.By, p.By)
		return p.ApplyAt(ctx, plan.end, plan.Next)
	})
}

// warn says what is valid and may not work.
func (a *Applier) warn(file string, next *workspace.Snapshot) error {
	warning, err := next.Crowded(a.Embedded)
	if err != nil {
		return fmt.Errorf("apply %s: %w", file, err)
	}
	if warning != "" {
		if err = a.say("warning: " + warning); err != nil {
			return err
		}
	}
	for _, warning := range unreachable(next, a.Permit) {
		if err = a.say("warning: " + warning); err != nil {
			return err
		}
	}
	return nil
}

// put has a workspace published and prints what that changed.
func (a *Applier) put(ctx context.Context, file string, next *workspace.Snapshot, publish func(*wstopic.Publisher) ([]workspace.Change, error)) error {
	err := a.admit(ctx, file, next)
	if err != nil {
		return err
	}
	created := &progress{out: a.Out, terminal: a.Terminal}
	changes, err := publish(&wstopic.Publisher{Kafka: a.Kafka, Keys: a.Keys, Clear: a.Clear, By: a.By, Ensure: func(ctx context.Context, exports map[string]schemas.Export, topics ...string) error {
		return a.Ensure(ctx, exports, created.tell, topics...)
	}})
	if err != nil {
		return fmt.Errorf("apply %s: %w%s", file, err, created.left())
	}
	if err = a.print(changes, file+" is in force already", fmt.Sprintf("applied %s: %s", file, next)); err != nil {
		return err
	}
	if state, readErr := wstopic.Read(ctx, a.Kafka); readErr == nil { // the workspace is in force; this is to be told beside it
		err = a.mention(Paused(state.Snapshot, next))
	}
	return err
}

// Paused says of each destination of the next workspace that it stays paused: no file ends
// a pause.
func Paused(before, next *workspace.Snapshot) []string {
	var said []string
	for _, id := range before.PausedIDs() {
		p, _ := before.Paused(id)
		if d, stays := next.Destination(id); stays && d.Unpausable() == "" {
			said = append(said, fmt.Sprintf("destination %s stays paused, %s: `anabranch destinations resume %s` has it delivered to", id, p, id))
		}
	}
	return said
}

func (a *Applier) mention(lines []string) error {
	for _, line := range lines {
		if err := a.say(line); err != nil {
			return err
		}
	}
	return nil
}

// admit awaits the brokers, and refuses what an embedded one does not stand.
func (a *Applier) admit(ctx context.Context, file string, next *workspace.Snapshot) error {
	embedded, err := a.Await(ctx)
	if err == nil && embedded {
		if _, err = next.Crowded(true); err != nil {
			err = fmt.Errorf("apply %s: %w", file, err)
		}
	}
	return err
}

func (a *Applier) preview(ctx context.Context, file string, next *workspace.Snapshot) error {
	_, err := a.Plan(ctx, file, next)
	if unknown, ok := errors.AsType[*UnknownError](err); ok {
		return a.say(fmt.Sprintf("%s is valid: %s. The difference to what is in force is not known: %v", file, next, unknown.Err))
	}
	return err
}

// Plan is what a workspace would change of the one in force.
type Plan struct {
	Next    *workspace.Snapshot
	Changes []workspace.Change // none: it is in force already
	By      string             // who puts it in force; empty: whom the applier names

	end int64 // of the state that it was compared with
}

// UnknownError says why it is not known what a workspace would change that is valid by itself.
type UnknownError struct{ Err error }

// Error is what went wrong.
func (e *UnknownError) Error() string { return e.Err.Error() }

// Unwrap returns it.
func (e *UnknownError) Unwrap() error { return e.Err }

// Plan prints what the next workspace would change, and what it is warned of, and returns what
// [Applier.Confirm] puts in force. The file's name is for people.
func (a *Applier) Plan(ctx context.Context, file string, next *workspace.Snapshot) (*Plan, error) {
	if err := a.warn(file, next); err != nil {
		return nil, err
	}
	state, err := wstopic.Read(ctx, a.Kafka)
	if err != nil {
		return nil, &UnknownError{err}
	}
	if err = a.admit(ctx, file, next); err != nil {
		return nil, err
	}
	if err = next.Succeeds(state.Snapshot, state.Applied); err != nil {
		return nil, fmt.Errorf("apply %s: %w", file, err)
	}
	changes, _, err := state.Changes(next, a.Keys, a.Clear)
	if err != nil {
		return nil, &UnknownError{err}
	}
	if err = a.print(changes, file+" is in force already", "this is a dry run: nothing was changed"); err != nil {
		return nil, err
	}
	return &Plan{Next: next, Changes: changes, end: state.End()}, a.mention(Paused(state.Snapshot, next))
}

// print writes a line for each change and then the verdict on them.
func (a *Applier) print(changes []workspace.Change, none, some string) error {
	if len(changes) == 0 {
		return a.say(none)
	}
	var err error
	for _, c := range changes {
		err = errors.Join(err, a.say(c.String()))
		if c.Left != "" {
			err = errors.Join(err, a.say("    "+c.Left))
		}
	}
	return errors.Join(err, a.say(some))
}

func (a *Applier) say(line string) error {
	_, err := fmt.Fprintln(a.Out, line)
	return err
}
