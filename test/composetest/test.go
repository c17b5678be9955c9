package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anabranch/anabranch/test/composetest/printed"
	"github.com/anabranch/anabranch/test/composetest/stack"
	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/load"
)

const (
	// What docker-compose.yml and its workspace say.
	writeKey = "wk_website"
	receiver = "receiver"

	// upTime is for a build that has nothing in its cache, on a machine with other
	// things to do.
	upTime   = 20 * time.Minute
	stepTime = 3 * time.Minute
	// downTime is for cleaning up, also after an interrupt.
	downTime = 2 * time.Minute

	users, lanes = 50, 4
)

// test is one run of the program.
type test struct {
	stack *stack.Stack
	opts  *options
	out   io.Writer
	books *books.Books
	scale map[string]int // of every stage

	mu     sync.Mutex
	broken []string // deliveries whose signature did not hold
}

func newTest(s *stack.Stack, o *options, out io.Writer) *test {
	return &test{
		stack: s, opts: o, out: out,
		books: books.New("compose-" + strconv.FormatInt(time.Now().Unix(), 36)),
		scale: map[string]int{ingest: 1, router: 1, sink: 1},
	}
}

// run brings the stack up, runs the steps, and takes it down again, whatever has
// become of them.
func (t *test) run(ctx context.Context) (err error) {
	defer func() {
		rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), downTime)
		defer cancel()
		if err != nil {
			err = errors.Join(err, t.stack.Logs(rest))
		}
		err = errors.Join(err, t.stack.Down(rest))
	}()
	if err = t.up(ctx); err != nil {
		return err
	}
	following, stop := context.WithCancel(ctx)
	var follower sync.WaitGroup
	var followErr error
	follower.Go(func() { followErr = t.follow(following) })
	failed := 0
	for i := range t.opts.steps {
		if !t.step(ctx, &t.opts.steps[i]) {
			failed++
		}
		if ctx.Err() != nil {
			break
		}
	}
	stop()
	follower.Wait()
	if failed > 0 {
		err = fmt.Errorf("%d of %d steps failed", failed, len(t.opts.steps))
	}
	return errors.Join(context.Cause(ctx), err, followErr)
}

// up builds the image and waits for the stages and a workspace.
func (t *test) up(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, upTime, errors.New("not up after "+upTime.String()))
	defer cancel()
	began := time.Now()
	// One of them: the image is the same for all, and is built once.
	build := []string{"build"}
	if image := os.Getenv("GO_IMAGE"); image != "" {
		build = append(build, "--build-arg", "GO_IMAGE="+image)
	}
	if _, err := t.stack.Compose(ctx, append(build, ingest)...); err != nil {
		return err
	}
	built := time.Since(began)
	if err := t.stack.Up(ctx, t.scaled()); err != nil {
		return err
	}
	if _, err := t.stack.Await(ctx, receiver, 1); err != nil {
		return err
	}
	if err := t.awaitStages(ctx); err != nil {
		return err
	}
	if err := awaitKey(ctx, t.opts.collect); err != nil {
		return err
	}
	t.say(fmt.Sprintf("built in %s, up in %s\n", built.Round(time.Second), (time.Since(began) - built).Round(time.Second)))
	return nil
}

// scaled is what Compose is told: only the stages that may be more than one.
func (t *test) scaled() map[string]int {
	scale := maps.Clone(t.scale)
	delete(scale, ingest)
	return scale
}

func (t *test) awaitStages(ctx context.Context) error {
	for service, n := range t.scale {
		if _, err := t.stack.Await(ctx, service, n); err != nil {
			return err
		}
	}
	return nil
}

// follow enters into the books what the receiver prints.
func (t *test) follow(ctx context.Context) error {
	r, w := io.Pipe()
	var reading sync.WaitGroup
	reading.Go(func() { _ = r.CloseWithError(printed.Read(r, t.seen)) })
	err := t.stack.Follow(ctx, receiver, w)
	_ = w.Close()
	reading.Wait()
	return err
}

func (t *test) seen(d printed.Delivery) {
	stamp, err := books.ParseStamp(d.MessageID)
	if err != nil {
		return // not of this run
	}
	if d.Signature != "ok" {
		t.mu.Lock()
		t.broken = append(t.broken, d.MessageID+": "+d.Signature)
		t.mu.Unlock()
		return
	}
	t.books.Arrived(stamp, time.Now(), func(int) bool { return true })
}

// step runs one step under load, prints its line and reports whether all held.
func (t *test) step(ctx context.Context, s *step) bool {
	began := time.Now()
	result := t.underLoad(ctx, s)
	var line strings.Builder
	fmt.Fprintf(&line, "%-15s %s, took %s\n", s.name, result, time.Since(began).Round(time.Second))
	faults := result.faults(s.repeats)
	for _, fault := range faults {
		fmt.Fprintf(&line, "%-15s FAILED: %v\n", s.name, fault)
	}
	t.say(line.String())
	return len(faults) == 0
}

// say prints to a person, whose terminal may be gone.
func (t *test) say(text string) { _, _ = io.WriteString(t.out, text) }

// underLoad sends calls before, during and after what the step does, and waits for
// all that was acknowledged to arrive.
func (t *test) underLoad(ctx context.Context, s *step) *result {
	client := load.Client{
		URL: t.opts.collect + "/v1/batch", WriteKey: writeKey, Producer: s.name,
		Keys: users, Lanes: lanes, Books: t.books,
	}
	loading, stop := context.WithCancel(ctx)
	var sender sync.WaitGroup
	r := &result{again: -t.books.Again(), unasked: -t.books.Unasked()}
	sender.Go(func() { r.unsent = client.Run(loading, t.opts.rate, t.opts.patience) })
	hold(ctx, t.opts.hold)
	doing, cancel := context.WithTimeoutCause(ctx, stepTime, errors.New("the step took longer than "+stepTime.String()))
	r.err = s.do(doing, t)
	cancel()
	hold(ctx, t.opts.hold)
	stop()
	sender.Wait()
	own := func(producer string) bool { return producer == s.name }
	t.drain(ctx, own)
	r.tally = t.books.Tally(own)
	r.again += t.books.Again()
	r.unasked += t.books.Unasked()
	t.mu.Lock()
	r.broken, t.broken = t.broken, nil
	t.mu.Unlock()
	return r
}

// drain returns when nothing is missing any more, or has had its time.
func (t *test) drain(ctx context.Context, own func(string) bool) {
	ctx, cancel := context.WithTimeout(ctx, t.opts.patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for t.books.Tally(own).Lost > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// hold waits: the load has to be there for a while.
func hold(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
