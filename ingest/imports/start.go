package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/ingest/imports/internal/rows"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/kafka/txn"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// UsualRate is what an import takes without --rate, in rows a second.
	UsualRate = 20_000
	// MaxRate bounds --rate.
	MaxRate = 200_000

	// TransactionalIDs begins the transactional ids of imports, one for each digest.
	TransactionalIDs = schemas.OwnPrefix + "import-"

	// abandonAfter is how long an import that died keeps the router from reading what
	// others write, unless the next run ends that before.
	abandonAfter = 10 * time.Second
	// batchTimeout bounds a batch in hand, also after the import is told to stop: the
	// process is cut off eight seconds after that.
	batchTimeout = 6 * time.Second
	openTimeout  = 10 * time.Second

	batchesPerSecond = 2
	maxBatchRows     = 5_000
	maxBatchBytes    = 4 << 20

	// renewEvery is how old the workspace and the suppressed users may be that rows are
	// judged by.
	renewEvery = time.Minute
	// mostWaiting is how many events may wait for the router where Waiting is asked.
	mostWaiting = 200_000
)

// Settings are what an import works with.
type Settings struct {
	Input

	Kafka  []kgo.Opt
	Topics *topics.Admin
	Load   Load
	// Waiting returns how many events the router has not read yet, where too many of them
	// would keep others from writing. Nil: nobody minds.
	Waiting func(context.Context) (int64, error)

	Out, Err io.Writer // what was done, at the end; progress
	Terminal bool      // Err is a terminal: progress stays on its line
	JSON     bool

	Rate    int    // rows a second, 1 to MaxRate
	Deliver string // all, none, or ids of destinations
	Again   bool   // import what was imported before
	Strict  bool   // a refused row is an error in the end
}

// Errors of an import.
var (
	errFenced  = fmt.Errorf("another import of the same rows was started and has taken over, or this one stalled for %s", abandonAfter)
	errUnknown = errors.New("whether the last batch was written is not known; the next run finds out")
	errChanged = errors.New("the files changed while they were imported: expected that nobody writes to them")
	errRefused = errors.New("rows were refused")
	errNoStdin = errors.New("import start: expected a file: standard input can't be read again where an import was interrupted; `import plan -` reads it")
)

// run is one import.
type run struct {
	Settings

	files   *rows.Files
	door    *door
	entry   *Entry
	writer  *txn.Writer
	rejects *rejects
	pace    *waiting.Pace

	skip     int64     // rows that an earlier run has brought in
	bytesIn  int64     // of the files
	renewed  time.Time // when the terms were read
	looked   time.Time // when Waiting was asked
	begun    time.Time
	progress terminal.Progress
}

// Start imports the rows that are not in yet. When ctx ends it finishes the batch in hand
// and returns an error that says how to go on.
func Start(ctx context.Context, set Settings) error {
	if set.Name == Stdin {
		return errNoStdin
	}
	r, err := prepare(ctx, set)
	if err != nil {
		return err
	}
	if err = r.open(ctx); err != nil {
		return err
	}
	defer r.writer.Close()
	if err = r.find(ctx); err != nil {
		return err
	}
	if r.rejects, err = rejectsOf(r.Name, r.entry.RejectsBytes); err != nil {
		return err
	}
	defer r.rejects.close()
	r.begin(time.Now())
	err = r.transfer(ctx)
	r.progress.Leave()
	if err != nil {
		return r.unfinished(ctx, err)
	}
	return r.finish()
}

// prepare reads what is to be imported, and on which terms.
func prepare(ctx context.Context, set Settings) (*run, error) {
	files, err := set.open()
	if err != nil {
		return nil, err
	}
	terms, err := set.Load(ctx)
	if err != nil {
		return nil, err
	}
	source, err := set.source(terms.Workspace)
	if err != nil {
		return nil, err
	}
	narrow, err := only(set.Deliver, source, terms.Workspace)
	if err != nil {
		return nil, err
	}
	digest, err := files.Digest(ctx, source)
	if err != nil {
		return nil, err
	}
	return &run{
		Settings: set, files: files, pace: waiting.NewPace(set.Rate), renewed: time.Now(),
		door: &door{source: source, format: files.Format, only: narrow, digest: digest, terms: terms, now: time.Now},
	}, nil
}

// open makes the one writer of this digest: one that died is ended, one that lives fenced.
func (r *run) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := r.Topics.Ensure(ctx, schemas.TopicRawEvents, schemas.TopicDeadLetters, schemas.TopicImports); err != nil {
		return err
	}
	w, err := txn.Open(ctx, TransactionalIDs+r.door.digest[:idDigits], abandonAfter, r.Kafka...)
	r.writer = w
	return err
}

// find settles where to begin.
func (r *run) find(ctx context.Context) error {
	before, err := lookUp(ctx, r.writer.Client(), r.Kafka, r.door.digest)
	if err != nil {
		return err
	}
	fresh := &Entry{File: r.Name, Source: r.door.source, Deliver: r.deliver(), StartedAt: time.Now().UTC().Truncate(time.Millisecond)}
	switch {
	case before == nil || before.Done && r.Again:
		r.entry = fresh
	case before.Done:
		return fmt.Errorf("%s was imported on %s as %s: %d rows, %d refused; --again imports it once more",
			r.Name, before.UpdatedAt.Format(time.DateTime), before.File, before.Rows, before.Refused)
	case before.Deliver != fresh.Deliver:
		return fmt.Errorf("--deliver=%s: the import of these rows was begun with --deliver=%s and is not done: expected the same, which continues it", fresh.Deliver, before.Deliver)
	default:
		r.entry, r.skip = before, before.Rows
		_, _ = fmt.Fprintf(r.Err, "continuing behind row %d\n", r.skip)
	}
	return nil
}

func (r *run) deliver() string {
	if r.Deliver == "" {
		return deliverAll
	}
	return r.Deliver
}

// transfer brings in all rows that are not in: one goroutine reads and judges while the
// other waits for the brokers.
func (r *run) transfer(ctx context.Context) error {
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	batches := make(chan *verdict, 1)
	var (
		reading sync.WaitGroup
		readErr error
	)
	reading.Go(func() {
		defer close(batches)
		readErr = r.read(work, batches)
	})
	var err error
	for batch := range batches {
		if err == nil {
			if err = r.flush(ctx, batch); err != nil {
				stop(err)
			}
		}
	}
	reading.Wait()
	if err != nil {
		return err
	}
	if readErr != nil {
		return readErr
	}
	r.entry.Done = true
	return r.write(ctx, nil)
}

// batchRows is how many rows a transaction holds.
func (r *run) batchRows() int64 { return int64(min(max(1, r.Rate/batchesPerSecond), maxBatchRows)) }

// read hands out batches of rows that are judged.
func (r *run) read(ctx context.Context, batches chan<- *verdict) error {
	batch := new(verdict)
	send := func() error {
		if batch.counts.Rows == 0 {
			return nil
		}
		select {
		case batches <- batch:
			batch = new(verdict)
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	judge := func() error {
		v, err := r.door.judge()
		batch.add(&v)
		batch.read = r.files.Read()
		return err
	}
	digest, err := r.files.Each(r.door.source, func(row *rows.Row) error {
		if row.Number <= r.skip {
			return skipped(ctx, row.Number)
		}
		if full := r.door.add(row); !full && batch.counts.Rows+int64(len(r.door.pending)) < r.batchRows() {
			return nil
		}
		if err := errors.Join(r.renew(ctx), judge()); err != nil {
			return err
		}
		if batch.counts.Rows < r.batchRows() && batch.bytes < maxBatchBytes {
			return nil
		}
		return send()
	})
	if err == nil {
		err = judge()
	}
	if err == nil {
		err = send()
	}
	if err == nil && digest != r.door.digest {
		err = errChanged
	}
	return err
}

// skipped looks now and then whether rows that are passed over still are to be.
func skipped(ctx context.Context, row int64) error {
	if row%rowsAtOnce == 0 {
		return context.Cause(ctx)
	}
	return nil
}

func (v *verdict) add(more *verdict) {
	v.counts.add(more.counts)
	v.records = append(v.records, more.records...)
	v.refused = append(v.refused, more.refused...)
	v.bytes += more.bytes
	if more.last > 0 {
		v.last = more.last
	}
}

// renew reads the terms again when they are old: somebody may have been suppressed since.
func (r *run) renew(ctx context.Context) error {
	if time.Since(r.renewed) < renewEvery {
		return nil
	}
	terms, err := r.Load(ctx)
	if err != nil {
		return err
	}
	r.renewed = time.Now()
	if _, err := r.source(terms.Workspace); err != nil {
		return err
	}
	r.door.terms = terms
	return nil
}

// flush writes a batch when its time has come.
func (r *run) flush(ctx context.Context, batch *verdict) error {
	if err := r.room(ctx); err != nil {
		return err
	}
	if !waiting.Sleep(ctx, r.pace.Wait(time.Now())) {
		return context.Cause(ctx)
	}
	r.pace.Left(int(batch.counts.Rows), time.Now())
	if err := r.rejects.add(batch.refused); err != nil {
		return err
	}
	r.entry.add(batch.counts)
	r.entry.RejectsBytes, r.bytesIn = r.rejects.bytes, batch.read
	if err := r.write(ctx, batch.records); err != nil {
		return err
	}
	r.show(time.Now())
	return nil
}

// room waits until the router has read enough of what was written.
func (r *run) room(ctx context.Context) error {
	if r.Waiting == nil || time.Since(r.looked) < time.Second {
		return nil
	}
	for {
		n, err := r.Waiting(ctx)
		r.looked = time.Now()
		if err != nil || n < mostWaiting {
			return err
		}
		r.show(r.looked)
		if !waiting.Sleep(ctx, time.Second) {
			return context.Cause(ctx)
		}
	}
}

// write commits events, and how far the import is with them.
func (r *run) write(ctx context.Context, records []*kgo.Record) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	mark, err := r.entry.record(r.door.digest, time.Now())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
	defer cancel()
	err = r.writer.Write(ctx, append(records, mark))
	switch {
	case kafka.Fenced(err):
		return fmt.Errorf("%w: %w", errFenced, err)
	case errors.Is(err, txn.ErrUnknown):
		return fmt.Errorf("%w: %w", errUnknown, err)
	}
	return err
}
