package imports

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"net"
	"os"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

var (
	kills = flag.Int("kills", 6, "how often an import is killed")
	seed  = flag.Uint64("seed", 1, "where it is killed")
)

// TestKilledAnywhere kills an import some times, wherever it is: each row is in the log or
// among the rejects, once.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	kills, rows := *kills, 600**kills
	y := newYard(t, testkit.Brokers(t))
	text, good := numbered(rows)
	name := file(t, "calls.ndjson", text)
	rng := rand.New(rand.NewPCG(*seed, 0))
	killed := 0
	for done := false; !done; {
		set := y.settings(name)
		d := new(deadly)
		if d.left.Store(1 << 40); killed < kills {
			d.left.Store(int64(rng.IntN(25)))
		}
		set.Kafka = append(set.Kafka, kgo.Dialer(d.dial))
		done = y.attempt(set, d)
		if !done {
			killed++
		}
	}
	if killed < kills {
		t.Errorf("it was done after %d kills", killed)
	}
	seen := make(map[string]bool)
	for _, r := range y.cluster.ReadAll(t, schemas.TopicRawEvents, good) {
		seen[headersOf(t, r).MessageID] = true
	}
	rejected, err := os.ReadFile(name + ".rejected.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	refused := make(map[int64]bool)
	for line := range bytes.Lines(rejected) {
		var each Refusal
		if err := json.Unmarshal(line, &each); err != nil || refused[each.Row] {
			t.Fatalf("%v, twice or broken: %s", err, line)
		}
		refused[each.Row] = true
	}
	if len(seen) != good || len(seen)+len(refused) != rows {
		t.Errorf("%d different events of %d, %d refused, %d rows", len(seen), good, len(refused), rows)
	}
}

// attempt is one run, which is killed or done.
func (y *yard) attempt(set Settings, d *deadly) (done bool) {
	ctx, cancel := context.WithCancel(y.t.Context())
	defer cancel()
	r := y.hurried(ctx, set)
	if err := r.open(ctx); err != nil {
		y.t.Fatal(err)
	}
	defer r.writer.Close()
	if err := r.find(ctx); err != nil {
		y.t.Fatal(err)
	}
	var err error
	if r.rejects, err = rejectsOf(r.Name, r.entry.RejectsBytes); err != nil {
		y.t.Fatal(err)
	}
	defer r.rejects.close()
	d.armed.Store(true)
	d.kill.Store(new(func() {
		cancel()
		r.writer.Close()
	}))
	return r.transfer(ctx) == nil
}

// deadly is a network that kills who uses it after so many requests.
type deadly struct {
	armed atomic.Bool
	left  atomic.Int64
	kill  atomic.Pointer[func()]
}

func (d *deadly) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, addr)
	return deadlyConn{conn, d}, err
}

type deadlyConn struct {
	net.Conn

	of *deadly
}

// Write is the last one at the end: what is on its way arrives or does not.
func (c deadlyConn) Write(p []byte) (int, error) {
	if c.of.armed.Load() && c.of.left.Add(-1) < 0 {
		_ = c.Close()
		if kill := c.of.kill.Swap(nil); kill != nil {
			go (*kill)()
		}
		return 0, net.ErrClosed
	}
	return c.Conn.Write(p)
}
