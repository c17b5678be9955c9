package clientfaults

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/report"
)

const (
	// importRate is that of an import that is going to be killed, in rows per second: two
	// transactions.
	importRate = 500
	// besideRate is that of the calls beside it, in calls per second.
	besideRate = 50
	// rowsName is the producer of the rows.
	rowsName = "rows"
)

// KillImport kills an import again and again, and now and then ingest, the router or both
// with it, and has the same command go on each time. Each row must be in raw-events or
// among those refused, once, and what is accepted must be delivered once.
func KillImport(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	kills := lab.Pick(l, 4, 50)
	in, err := newIntake(ctx, l)
	if err != nil {
		return nil, err
	}
	file := load.File{Path: filepath.Join(l.Dir, "calls.ndjson.gz"), Rows: lab.Pick(l, 5_000, 60_000), BadEvery: 97}
	good, err := file.Write(l.Books.Run(), rowsName, 101)
	if err != nil {
		return nil, err
	}
	r := &report.Result{Faults: report.Faults{What: "kills of an import", Claimed: kills}}
	client := load.Client{URL: in.base + "/v1/batch", WriteKey: lab.WriteKey, Producer: own, Keys: 101, Lanes: 2, Books: l.Books}
	calling, enough := context.WithCancel(ctx)
	defer enough()
	unsent := make(chan int, 1)
	go func() { unsent <- client.Run(calling, besideRate, lastCalls) }()
	if err = killImport(ctx, l, in, file.Path, r); err != nil {
		return nil, err
	}
	enough()
	left := <-unsent
	r.Require(left == 0, "%d calls were not accepted %s after the last kill", left, lastCalls)
	if err = finishImport(ctx, l, &file, good, r); err != nil {
		return nil, err
	}
	return r, l.Finish(ctx, r, time.Minute, report.Bounds{MinSent: len(good)}, in.all()...)
}

// killImport kills imports some time after they have begun. Every third takes stages along.
func killImport(ctx context.Context, l *lab.Lab, in *intake, path string, r *report.Result) error {
	l.Announce("kill -9 of an import, %d times, and of ingest, router or both at every third", r.Faults.Claimed)
	p := l.Tool("import", "start", path, "--rate", strconv.Itoa(importRate))
	stages := 0
	for i := range r.Faults.Claimed {
		var also []*child.Process
		if i%3 == 0 {
			also = in.victims(l, stages)
			stages++
		}
		err := lab.InOrder(
			p.Start,
			func() error {
				return lab.Pause(ctx, 100*time.Millisecond+time.Duration(l.Rand.Int64N(int64(2*time.Second))))
			},
			p.Kill,
			func() error { return kill(also...) },
		)
		if err != nil {
			return err
		}
		r.Faults.Injected++
	}
	r.Note("%d kills of ingest, router or both", stages)
	return nil
}

// finishImport has the import come to its end, and counts what became of the rows: in its
// own words, in the log, and in the file of those refused.
func finishImport(ctx context.Context, l *lab.Lab, file *load.File, good []books.Stamp, r *report.Result) error {
	var said struct{ Rows, Accepted, Refused int }
	if err := l.Ask(ctx, &said, "import", "start", file.Path, "--json"); err != nil {
		return err
	}
	r.Require(said.Rows == file.Rows && said.Accepted == len(good) && said.Refused == file.Bad(),
		"the import says %+v, expected %d accepted and %d refused", said, len(good), file.Bad())
	refused, err := distinctRefusals(file.Path + ".rejected.ndjson")
	if err != nil {
		return err
	}
	r.Require(refused == file.Bad(), "%d rows are among those refused instead of %d", refused, file.Bad())
	for _, s := range good {
		l.Books.Promised(s)
	}
	logged, err := l.Count(ctx, schemas.TopicRawEvents, rowsName, len(good), func(*schemas.Headers) bool { return true })
	r.Require(len(logged) == len(good) && lab.Twice(logged) == 0, "%d of %d rows are in the log, %d of them again", len(logged), len(good), lab.Twice(logged))
	r.Note("%d accepted + %d refused of %d rows", len(logged), refused, file.Rows)
	return err
}

// distinctRefusals counts the rows of a file of refused rows, each of which must be in it
// once.
func distinctRefusals(path string) (int, error) {
	file, err := os.Open(path) //nolint:gosec // of the import
	if err != nil {
		return 0, err
	}
	defer file.Close() //nolint:errcheck // only read
	seen := make(map[int64]bool)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var each struct {
			Row int64 `json:"row"`
		}
		if err := json.Unmarshal(lines.Bytes(), &each); err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		if seen[each.Row] {
			return 0, fmt.Errorf("%s: row %d is there again", path, each.Row)
		}
		seen[each.Row] = true
	}
	return len(seen), lines.Err()
}
