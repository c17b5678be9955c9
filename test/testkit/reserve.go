package testkit

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/twmb/franz-go/pkg/kadm"
)

// reserve waits until no other test uses the broker and empties it.
func (c *Cluster) reserve(tb testing.TB) {
	tb.Helper()
	name := "anabranch-test-" + strings.ReplaceAll(strings.Join(c.Addrs, "+"), ":", "-") + ".lock"
	lock := flock.New(filepath.Join(os.TempDir(), name))
	// The wait has no bound of its own: the queue of parallel tests may be
	// long, and "go test -timeout" names the one that never ends.
	if _, err := lock.TryLockContext(tb.Context(), 10*pause); err != nil {
		tb.Fatalf("lock %s: %v", lock.Path(), err)
	}
	tb.Cleanup(func() {
		if err := lock.Close(); err != nil {
			tb.Errorf("release %s: %v", lock.Path(), err)
		}
	})

	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	if err := wipe(ctx, c.admin(tb)); err != nil {
		tb.Fatalf("empty broker %s: %v", strings.Join(c.Addrs, ","), err)
	}
}

// wipe deletes the product's topics and groups and returns when they are gone.
func wipe(ctx context.Context, admin *kadm.Client) error {
	if err := claim(ctx, admin); err != nil {
		return err
	}
	tick := time.NewTicker(10 * pause)
	defer tick.Stop()
	var left []string
	for {
		found, err := sweep(ctx, admin)
		if err == nil && len(found) == 0 {
			return nil
		}
		// A sweep that ctx cut short found nothing out.
		if len(found) > 0 {
			left = found
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("delete %v: %w", left, cmp.Or(err, ctx.Err()))
		}
	}
}
