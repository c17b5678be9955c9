package personas

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/txn/runner"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/users"
)

// partition is one that is this process's own. It is replaced as a whole when it is
// assigned again. What it holds is as the last transaction left that committed.
type partition struct {
	num   int32
	users *users.Users

	changelog.Checkpoint

	// start is where raw-events was begun with: what stood before is processed, or gone.
	start int64

	// trimmed is up to where the changelog was deleted, as far as is known.
	trimmed int64

	// ticks have not been followed yet: the clock waits for the calls before them.
	ticks []tick
}

// tick says what time it was when raw-events ended at an offset.
type tick struct {
	end  int64
	time int64 // Unix milliseconds
}

// work is what the transaction in the making does to a partition.
type work struct {
	*partition

	c     *catalogue
	meta  changelog.Meta
	ticks []tick
	// from is a record that what is written was made from.
	from *kgo.Record
	// written is the record of meta, whose offset is known when it is acknowledged; nil:
	// there is none.
	written *kgo.Record
	left    bool          // there is more to do than the transaction may
	after   time.Duration // which has so much time
	keeps   bool          // messages whose leaves are not there yet
}

// work returns what the transaction does to a partition; nil: it was lost, and the
// transaction is dropped.
func (p *processor) work(t *runner.Transaction, num int32) *work {
	if w := p.open[num]; w != nil {
		return w
	}
	p.mu.Lock()
	part, owned := p.parts[num], len(p.parts)
	p.mu.Unlock()
	if part == nil {
		t.Drop()
		return nil
	}
	c, err := p.inForce(part)
	if err != nil {
		p.fail(t, err)
		return nil
	}
	part.users.Keep(p.cfg.ProfileMemory / owned)
	w := part.begin(c)
	p.open[num] = w
	return w
}

func (p *partition) begin(c *catalogue) *work {
	p.users.Use(c.Catalogue)
	w := &work{partition: p, c: c, meta: p.Clone(), ticks: p.ticks}
	adopt(&w.meta, c, w.meta.Clock())
	return w
}

// advance moves the clock to a time, which does not go back.
func (w *work) advance(ms int64) { w.meta.Time = max(w.meta.Time, ms) }

// follow moves the clock to the last tick behind which no call is unprocessed.
func (w *work) follow() {
	kept := w.ticks[:0:0]
	for _, t := range w.ticks {
		if t.end > max(w.meta.Raw, w.start) {
			kept = append(kept, t)
			continue
		}
		w.advance(t.time)
	}
	// Of many that wait the latest say all; the oldest are those that are followed first.
	if n := len(kept); n > mostTicks {
		kept = append(kept[:mostTicks/2:mostTicks/2], kept[n-mostTicks/2:]...)
	}
	w.ticks = kept
}

// mostTicks is how many ticks may wait for the calls before them.
const mostTicks = 64
