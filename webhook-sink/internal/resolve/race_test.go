package resolve

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
)

// lane is how one address behaves in a race. Addresses are 1.1.1.1, 1.1.1.2 and
// so on.
type lane struct {
	takes time.Duration
	err   error
	deaf  bool // does not end with the race: an answer that was on its way
}

// closing is a connection that tells when it is closed.
type closing struct {
	net.Conn
	closed *atomic.Int64
}

func (c *closing) Close() error {
	c.closed.Add(1)
	return nil
}

func TestRace(t *testing.T) {
	t.Parallel()
	first, second := errors.New("first"), errors.New("second")
	const never = time.Hour
	tests := map[string]struct {
		lanes  []lane
		winner int // 0: nobody
		err    error
		took   time.Duration
		closed int64
	}{
		"one alone":                         {lanes: []lane{{takes: time.Second}}, winner: 1, took: time.Second},
		"the first is there in time":        {lanes: []lane{{takes: 100 * time.Millisecond}, {}}, winner: 1, took: 100 * time.Millisecond},
		"the first fails":                   {lanes: []lane{{takes: time.Millisecond, err: first}, {takes: time.Millisecond}}, winner: 2, took: 2 * time.Millisecond},
		"the first hangs":                   {lanes: []lane{{takes: never}, {takes: time.Millisecond}}, winner: 2, took: headStart + time.Millisecond},
		"two hang":                          {lanes: []lane{{takes: never}, {takes: never}, {}}, winner: 3, took: 2 * headStart},
		"the first is late and still first": {lanes: []lane{{takes: 300 * time.Millisecond}, {takes: time.Second}}, winner: 1, took: 300 * time.Millisecond},
		"a loser connects behind the line":  {lanes: []lane{{takes: 400 * time.Millisecond, deaf: true}, {}}, winner: 2, took: headStart, closed: 1},
		"all fail":                          {lanes: []lane{{takes: time.Second, err: second}, {err: first}}, err: first, took: time.Second},
		"all hang":                          {lanes: []lane{{takes: never}, {takes: never}}, err: context.DeadlineExceeded, took: 5 * time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var closed atomic.Int64
				d := NewDialer(Options{Guard: guard.New(nil)})
				d.connect = func(ctx context.Context, _, address string) (net.Conn, error) {
					own := test.lanes[netip.MustParseAddrPort(address).Addr().As4()[3]-1]
					timer := time.NewTimer(own.takes)
					defer timer.Stop()
					if own.deaf {
						ctx = context.WithoutCancel(ctx)
					}
					select {
					case <-timer.C:
					case <-ctx.Done():
						return nil, ctx.Err()
					}
					if own.err != nil {
						return nil, own.err
					}
					return &closing{closed: &closed}, nil
				}
				var peers []netip.AddrPort
				for i := range test.lanes {
					peers = append(peers, netip.MustParseAddrPort("1.1.1."+strconv.Itoa(i+1)+":443"))
				}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				began := time.Now()
				conn, err := d.race(ctx, "tcp", peers)
				took := time.Since(began)
				virtual.Sleep(time.Second) // virtual: for whoever is still under way
				synctest.Wait()
				if (conn != nil) != (test.winner > 0) || !errors.Is(err, test.err) || took != test.took || closed.Load() != test.closed {
					t.Errorf("connection %v, error %v after %s, %d losers closed", conn, err, took, closed.Load())
				}
			})
		})
	}
}
