package resolve

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/virtual"
)

var (
	someAddrs  = []netip.Addr{netip.MustParseAddr("93.184.215.14")}
	otherAddrs = []netip.Addr{netip.MustParseAddr("1.1.1.1")}

	errDenied = &net.DNSError{Err: "no such host", IsNotFound: true}
	errFailed = &net.DNSError{Err: "server misbehaving", IsTemporary: true}
)

// script is a look-up that takes its time and gives what it is told to.
type script struct {
	takes time.Duration
	addrs []netip.Addr
	err   error
	count int
}

func (s *script) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	s.count++
	select {
	case <-time.After(s.takes):
		return s.addrs, s.err
	case <-ctx.Done():
		return nil, notFound(host, ctx.Err())
	}
}

// asks makes one attempt of five seconds and returns how long it waited.
func asks(t *testing.T, n *names) (took time.Duration, addrs []netip.Addr, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	began := time.Now()
	addrs, err = n.find(ctx, "Hooks.Example")
	return time.Since(began), addrs, err
}

func TestAnswersAreRemembered(t *testing.T) {
	t.Parallel()
	type step struct {
		pause  time.Duration // before it
		script script
		addrs  []netip.Addr
		err    error
		took   time.Duration
		count  int // of look-ups that it began
	}
	const quick, never = 10 * time.Millisecond, time.Hour
	good := script{takes: quick, addrs: someAddrs}
	found := step{script: good, addrs: someAddrs, took: quick, count: 1}
	tests := map[string][]step{
		"for a while":                      {found, {pause: freshFor - time.Millisecond, addrs: someAddrs}},
		"and no longer":                    {found, {pause: freshFor, script: script{takes: quick, addrs: otherAddrs}, addrs: otherAddrs, took: quick, count: 1}},
		"a failure for a moment":           {{script: script{takes: quick, err: errFailed}, err: errFailed, took: quick, count: 1}, {pause: failedFor - time.Millisecond, err: errFailed}},
		"a failure no longer than that":    {{script: script{err: errFailed}, err: errFailed, count: 1}, {pause: failedFor, script: good, addrs: someAddrs, took: quick, count: 1}},
		"when asking again fails":          {found, {pause: usableFor - time.Second, script: script{takes: quick, err: errFailed}, addrs: someAddrs, took: quick, count: 1}},
		"that it failed as well":           {found, {pause: freshFor, script: script{err: errFailed}, addrs: someAddrs, count: 1}, {addrs: someAddrs}},
		"but not for ever":                 {found, {pause: usableFor, script: script{takes: quick, err: errFailed}, err: errFailed, took: quick, count: 1}},
		"but not against a denial":         {found, {pause: freshFor, script: script{takes: quick, err: errDenied}, err: errDenied, took: quick, count: 1}},
		"when asking again hangs":          {found, {pause: freshFor, script: script{takes: never}, addrs: someAddrs, took: patience, count: 1}},
		"for nobody who never had one":     {{script: script{takes: never}, err: context.DeadlineExceeded, took: 5 * time.Second, count: 1}},
		"what came too late for the first": {{script: script{takes: 6 * time.Second, addrs: someAddrs}, err: context.DeadlineExceeded, took: 5 * time.Second, count: 1}, {addrs: someAddrs, took: time.Second}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var now script
				n := newNames(now.lookup)
				defer n.close()
				for i, step := range steps {
					virtual.Sleep(step.pause) // virtual
					if step.count > 0 {
						now = step.script
					}
					now.count = 0
					took, addrs, err := asks(t, n)
					synctest.Wait()
					if diff := cmp.Diff(step.addrs, addrs, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
						t.Errorf("step %d: addresses (-want +got):\n%s", i, diff)
					}
					if !errors.Is(err, step.err) || took != step.took || now.count != step.count {
						t.Errorf("step %d: error %v after %s with %d look-ups, want %v after %s with %d", i, err, took, now.count, step.err, step.took, step.count)
					}
				}
			})
		})
	}
}

func TestAttemptsShareALookup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := script{takes: time.Second, addrs: someAddrs}
		n := newNames(slow.lookup)
		defer n.close()
		var attempts sync.WaitGroup
		for range 1000 {
			attempts.Go(func() {
				if _, addrs, err := asks(t, n); err != nil || len(addrs) != 1 {
					t.Errorf("%v, %v", addrs, err)
				}
			})
		}
		attempts.Wait()
		if slow.count != 1 {
			t.Errorf("%d look-ups, want 1", slow.count)
		}
	})
}

// A resolver that hangs costs a fixed number of look-ups at a time, each for a
// fixed time, and what they held comes back.
func TestLookupsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newNameServer(always(reply{mute: true}))
		n := newNames(lookup(server.connect))
		var attempts sync.WaitGroup
		began := time.Now()
		for i := range 1000 {
			attempts.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				_, err := n.find(ctx, "host"+strconv.Itoa(i)+".example.")
				var lookup *net.DNSError
				if !errors.As(err, &lookup) || !lookup.IsTimeout {
					t.Errorf("host %d: %v", i, err)
				}
			})
		}
		attempts.Wait()
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("the attempts took %s", took)
		}
		// Questions for IPv4 and IPv6 addresses have a connection each.
		if _, most := server.connections(); most != 2*maxLookups {
			t.Errorf("%d connections at a time, want %d", most, 2*maxLookups)
		}
		virtual.Sleep(lookupTime - 5*time.Second) // virtual
		synctest.Wait()
		if open, _ := server.connections(); open != 0 {
			t.Errorf("%d connections are open when their time is over", open)
		}
		n.close()
	})
}

func TestCloseEndsLookups(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newNameServer(always(reply{mute: true}))
		n := newNames(lookup(server.connect))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := n.find(ctx, "hooks.example."); err == nil {
			t.Fatal("found")
		}
		began := time.Now()
		n.close()
		synctest.Wait()
		if open, _ := server.connections(); open != 0 || time.Since(began) != 0 {
			t.Errorf("%d connections are open after %s", open, time.Since(began))
		}
		if _, err := n.find(t.Context(), "hooks.example."); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after close: %v", err)
		}
		if server.questions("hooks.example") != 1 {
			t.Errorf("%d questions, want 1", server.questions("hooks.example"))
		}
	})
}

// One destination's thousand names must not cost memory for good.
func TestNamesAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var count atomic.Int64
		n := newNames(func(context.Context, string) ([]netip.Addr, error) {
			count.Add(1)
			return someAddrs, nil
		})
		defer n.close()
		n.limit = 100
		ask := func(host string) {
			if _, err := n.find(t.Context(), host); err != nil {
				t.Fatal(err)
			}
		}
		for i := range n.limit {
			ask("old" + strconv.Itoa(i))
		}
		virtual.Sleep(usableFor) // virtual
		for i := range n.limit + 50 {
			ask("new" + strconv.Itoa(i))
			if len(n.known) > n.limit {
				t.Fatalf("%d names are known", len(n.known))
			}
		}
		if n.known["old0"] != nil {
			t.Error("a name of no use was kept while others had to go")
		}
		before := count.Load()
		ask("new" + strconv.Itoa(n.limit+49))
		if count.Load() != before {
			t.Error("the last name was forgotten")
		}
	})
}
