package browser

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/test/sdktest/driver"
	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

const (
	// last is how many calls the SDK has still to send when the page goes away.
	last = 3
	// farewell is how long these may take once the page has gone. The browser
	// grants them 30 seconds.
	farewell = 20 * time.Second
)

// Speaker returns a driver's Start for the SDK in a package of npm's. It has the
// driver's page make the calls of the job and go away, and returns when all of them
// have been accepted. An error says which have not, what the page or the browser's
// console complained about, and which requests were refused.
//
// The words of a run's tag say more of how it is done: "tls" puts the collection
// API behind HTTPS and HTTP/2, and "close" has the page close itself, where
// another goes to a next page. The rest is for page.js.
func Speaker(sdk string) func(context.Context, *driver.Job) error {
	return func(ctx context.Context, job *driver.Job) error { return speak(ctx, "chromium", sdk, job) }
}

func speak(ctx context.Context, command, sdk string, job *driver.Job) (err error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	r, err := startRelay(job.Endpoint, strings.Contains(job.Run.Tag, "tls"), fail)
	if err != nil {
		return err
	}
	defer r.close()
	calls := order(job.Calls)
	split := max(0, len(calls)-last)
	p := &pages{
		brief:   brief{SDK: sdk, Endpoint: r.url(), WriteKey: job.WriteKey, Mode: job.Run.Mode, Tag: job.Run.Tag, Calls: calls[:split], Last: calls[split:]},
		settled: func(ctx context.Context, n int) error { return r.wait(ctx, calls[:min(n, len(calls))]) },
		fail:    fail,
	}
	if err = openPages(p, job.Folder); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	c, err := launch(ctx, command, p.url, job.Log)
	if err != nil {
		return err
	}
	err = visit(ctx, c, p, func(ctx context.Context) error { return r.wait(ctx, calls) })
	return errors.Join(err, complain(c, r))
}

// visit waits for the page to go away and then for the calls.
func visit(ctx context.Context, c *chromium, p *pages, arrived func(context.Context) error) error {
	select {
	case <-p.left:
	case <-c.ended:
		return fmt.Errorf("the browser ended by itself: %w", c.err)
	case <-ctx.Done():
		return fmt.Errorf("wait for the page to go away: %w", context.Cause(ctx))
	}
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	return arrived(ctx)
}

// complain closes the browser and returns what went wrong beside the calls.
func complain(c *chromium, r *relay) error {
	found, err := c.close()
	for _, text := range append(found, r.refusals()...) {
		err = errors.Join(err, errors.New(text))
	}
	return err
}

// order puts calls without a user behind those with one. A page has one user at a
// time, and an SDK that has to send an anonymous call again gives it the user of
// that moment; so these come when the faults at the beginning are over. The last
// calls stay where they are.
func order(calls []scenario.Call) []scenario.Call {
	sorted := slices.Clone(calls)
	slices.SortStableFunc(sorted[:max(0, len(sorted)-last)], func(a, b scenario.Call) int {
		return anonymous(&a) - anonymous(&b)
	})
	return sorted
}

func anonymous(c *scenario.Call) int {
	if c.UserID == "" {
		return 1
	}
	return 0
}
