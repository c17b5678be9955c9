package copies

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/seen"
	"github.com/anabranch/anabranch/internal/seen/digest"
)

// Settings are what copies are told by.
type Settings struct {
	Name       string // of the stage, in the names of metrics
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Window     time.Duration // the horizon
	Dir        string        // empty: files have no names, and are gone with the process
	Kafka      []kgo.Opt     // of every client of the process
	Client     *kgo.Client   // for questions
	// Calls is the topic with the calls, and Digests the one with what was seen of them.
	Calls, Digests string
	// Reader says that digests are somebody else's to write: whoever writes them looks at
	// the same calls with the same horizon.
	Reader bool
}

// Copies tells copies. Its methods belong to the loop, but for those of partitions.
type Copies struct {
	set     Settings
	metrics *metrics

	// Of the running stage.
	store  *seen.Store
	writer *digest.Writer // nil: of a reader

	mu    sync.Mutex
	parts map[int32]*part

	// Of the transaction in the making: the partitions that it began with, and which of
	// the records that were looked at last are copies.
	begun  map[int32]*part
	copies map[kafka.Partition]map[int64]bool

	// looked are the fingerprints of the records that were looked at last, in their order,
	// for [Copies.Print].
	looked []looked
	asked  int
}

type looked struct {
	fp     uint64
	offset int64
	num    int32
}

// part is what is known of a partition's calls.
type part struct {
	set   *seen.Set
	batch *seen.Batch
	calls *digest.Calls
	next  int64 // behind what was looked at
}

// New returns copies of which none is known yet.
func New(set Settings) *Copies {
	c := &Copies{set: set, parts: make(map[int32]*part), begun: make(map[int32]*part), copies: make(map[kafka.Partition]map[int64]bool)}
	c.metrics = newMetrics(set, c)
	return c
}

// Look finds the copies among records. After an error nothing of them may be processed.
func (c *Copies) Look(fetches kgo.Fetches) error {
	clear(c.copies)
	c.looked, c.asked = c.looked[:0], 0
	var failed error
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if p.Topic != c.set.Calls {
			return
		}
		if known := c.begin(p.Partition); known != nil && failed == nil {
			failed = c.look(known, p)
		}
	})
	return failed
}

// begin is the partition as the transaction has it; nil: it is somebody else's, so that
// the transaction can't commit.
func (c *Copies) begin(num int32) *part {
	if p := c.begun[num]; p != nil {
		return p
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.parts[num]
	if p != nil {
		c.begun[num] = p
	}
	return p
}

func (c *Copies) look(known *part, p kgo.FetchTopicPartition) error {
	at := kafka.Partition{Topic: p.Topic, Num: p.Partition}
	found := c.copies[at] // several fetches may have records of one partition
	for _, rec := range p.Records {
		if rec.Offset < known.next {
			return fmt.Errorf("%s[%d]@%d comes again, though which calls were seen is known up to %d", rec.Topic, rec.Partition, rec.Offset, known.next)
		}
		known.next = rec.Offset + 1
		fp, ok := known.calls.Fingerprint(rec)
		if !ok {
			continue
		}
		c.looked = append(c.looked, looked{fp.High(), rec.Offset, rec.Partition})
		again, err := known.batch.Seen(fp, rec.Offset, rec.Timestamp)
		if err != nil {
			return err
		}
		if again && found == nil {
			found = make(map[int64]bool)
			c.copies[at] = found
		}
		if again {
			found[rec.Offset] = true
		}
	}
	return nil
}

// Is reports whether a record that was looked at is a copy.
func (c *Copies) Is(rec *kgo.Record) bool {
	if len(c.copies) == 0 {
		return false
	}
	return c.copies[kafka.Partition{Topic: rec.Topic, Num: rec.Partition}][rec.Offset]
}

// Print returns the first half of the fingerprint of a record that was looked at, if the
// records are asked for in the order in which they were fetched; false where it has none.
func (c *Copies) Print(rec *kgo.Record) (uint64, bool) {
	if c.asked == len(c.looked) {
		return 0, false
	}
	next := &c.looked[c.asked]
	if next.offset != rec.Offset || next.num != rec.Partition {
		return 0, false
	}
	c.asked++
	return next.fp, true
}

// Ended says what became of the transaction, and up to where partitions are processed
// where it has committed.
func (c *Copies) Ended(committed bool, next map[kafka.Partition]int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for num, p := range c.begun {
		to, ok := next[kafka.Partition{Topic: c.set.Calls, Num: num}]
		if committed && ok && c.parts[num] == p {
			if c.writer != nil {
				c.writer.Add(num, p.set.Next(), to, p.batch)
			}
			p.batch.Commit(to)
		} else {
			p.batch.Drop()
		}
		p.next = p.set.Next()
	}
	clear(c.begun)
	clear(c.copies)
}
