package lab

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/anabranch/anabranch/test/storm/report"
)

// Bench is what the rows of one call of the program share.
type Bench struct {
	Dir       string // for the rows' files
	Binary    string // path of the product
	Short     bool   // the short form
	Seed      uint64 // of the fault plan
	Brokers   string // addresses of brokers that somebody else started; empty: one of our own for each row
	BrokerPID string // path of a file with the process id of those; empty when they can't be held up
	// BrokerStart is a shell command that starts those again after a kill; empty when
	// they can't be killed.
	BrokerStart string
	Old         string // path of a binary of the version before; empty: none
	SDKs        string // path of the cache in which "make sdk-test" installs SDKs; empty: without them
}

// Row is one kind of fault and what the product promises about it.
type Row struct {
	Name, About string
	Short       bool // has a place in the short form
	Embedded    bool // is about the embedded broker alone
	Kafka       bool // is about what a real Kafka does
	Holds       bool // holds the broker up
	Kills       bool // kills the broker and starts it again
	Upgrade     bool // takes a binary of the version before
	Run         func(context.Context, *Lab) (*report.Result, error)
}

// Missing says what a row needs and the bench has not; empty when it can be run.
func (b *Bench) Missing(r Row) string {
	switch {
	case r.Embedded && b.foreign():
		return "the embedded broker"
	case r.Kafka && !b.foreign():
		return "a real Kafka"
	case r.Holds && b.foreign() && b.BrokerPID == "":
		return "-broker-pid"
	case r.Kills && b.foreign() && (b.BrokerPID == "" || b.BrokerStart == ""):
		return "-broker-pid and -broker-start"
	case r.Upgrade && b.Old == "":
		return "-old"
	default:
		return ""
	}
}

// foreign reports whether the brokers are somebody else's.
func (b *Bench) foreign() bool { return b.Brokers != "" }

// Run runs one row in a directory of its own. An error means that it came to no
// result, not that its result is bad.
func (b *Bench) Run(ctx context.Context, r Row) (*report.Result, error) {
	dir := filepath.Join(b.Dir, r.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l := newLab(b, r.Name, dir)
	defer l.close(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go l.hiccups.watch(ctx)
	result, err := r.Run(ctx, l)
	if err != nil {
		return nil, err
	}
	result.Row = r.Name
	result.Note("%s", &l.hiccups)
	return result, nil
}

// chance returns the row's source of chance. It depends on the seed and the row
// alone, so that a row replays by itself what it did among others.
func chance(seed uint64, row string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(row))                   // to memory
	return rand.New(rand.NewPCG(seed, h.Sum64())) //nolint:gosec // a seed that can be given again is the point
}
