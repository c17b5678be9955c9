package archived

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/objects"
	"github.com/anabranch/anabranch/schemas"
)

// ErrChanged is of an archive that will not again be what it was: an object is gone, or
// can't be read to its end. ErrAway is of one that can't be had now.
var (
	ErrChanged = errors.New("the archive has changed")
	ErrAway    = errors.New("the archive can't be read")
)

// settled is how old an object has to be for the others of its range to be there too.
const settled = time.Minute

// Choice says which events of an archive are meant.
type Choice struct {
	From, To time.Time // receipt: From <= t < To; a zero From is the first that there is
	Source   string    // id; empty: of all sources
}

// Log is what an archive holds of a time. It is made by [Open], and can be read by many
// goroutines.
type Log struct {
	store  objects.Store
	choice Choice
	parts  map[int32]*partition
	// others are objects that are not in the log, but may tell of users to be deleted.
	others []schemas.ArchivedName
}

// partition is what a log has of one.
type partition struct {
	files []file
	end   int64 // offset behind the last
}

// file is an object with the offsets of its range.
type file struct {
	schemas.ArchivedName

	begin, end int64
}

// Open lists what an archive holds of a time. Objects are those that end at the offsets in
// ends at the latest, by partition of the destination's topic; with nil ends, all that were
// there a minute before now.
func Open(ctx context.Context, store objects.Store, c Choice, ends map[int32]int64, now time.Time) (*Log, error) {
	names, young, err := list(ctx, store, c.From, now)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAway, err)
	}
	if ends == nil {
		ends = endsOf(names, young)
	}
	l := &Log{store: store, choice: c, parts: make(map[int32]*partition)}
	for _, n := range names {
		switch end, known := ends[n.Partition]; {
		case known && n.To <= end && l.holds(n):
			l.add(n)
		default:
			l.others = append(l.others, n)
		}
	}
	return l, nil
}

// holds reports whether an object may have events that are meant.
func (l *Log) holds(n schemas.ArchivedName) bool {
	return (l.choice.Source == "" || n.Source == l.choice.Source) && n.Day.Before(l.choice.To)
}

// add takes in the next object of a partition.
func (l *Log) add(n schemas.ArchivedName) {
	p := l.parts[n.Partition]
	if p == nil {
		p = new(partition)
		l.parts[n.Partition] = p
	}
	f := file{ArchivedName: n, begin: p.end, end: p.end + n.To - n.From}
	if i := len(p.files) - 1; i >= 0 && sameRange(p.files[i].ArchivedName, n) {
		f.begin, f.end = p.files[i].begin, p.files[i].end
	}
	p.files, p.end = append(p.files, f), f.end
}

func sameRange(a, b schemas.ArchivedName) bool {
	return a.Partition == b.Partition && a.From == b.From && a.To == b.To
}

// list returns the objects that may have events since a day, in the order in which they are
// read, and which ranges are young.
func list(ctx context.Context, store objects.Store, from, now time.Time) (names []schemas.ArchivedName, young map[schemas.ArchivedName]bool, err error) {
	young = make(map[schemas.ArchivedName]bool)
	sources, err := store.List(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	for _, source := range directories(sources) {
		days, err := store.List(ctx, source)
		if err != nil {
			return nil, nil, err
		}
		for _, day := range directories(days) {
			if !since(day, from) {
				continue
			}
			found, err := store.List(ctx, day)
			if err != nil {
				return nil, nil, err
			}
			for _, e := range found {
				n, ok := schemas.ParseArchivedName(e.Name)
				if !ok {
					continue
				}
				names = append(names, n)
				if now.Sub(e.Modified) < settled {
					young[rangeOf(n)] = true
				}
			}
		}
	}
	slices.SortFunc(names, func(a, b schemas.ArchivedName) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), strings.Compare(a.String(), b.String()))
	})
	return names, young, nil
}

func directories(all []objects.Entry) (names []string) {
	for _, e := range all {
		if strings.HasSuffix(e.Name, "/") {
			names = append(names, e.Name)
		}
	}
	return names
}

// since reports whether a directory is of a day that has not ended by a time.
func since(dir string, from time.Time) bool {
	_, day, _ := strings.Cut(strings.TrimSuffix(dir, "/"), "/")
	begin, err := time.Parse(time.DateOnly, day)
	return err == nil && begin.AddDate(0, 0, 1).After(from)
}

// rangeOf is the same for all objects of a range.
func rangeOf(n schemas.ArchivedName) schemas.ArchivedName {
	return schemas.ArchivedName{Partition: n.Partition, From: n.From, To: n.To}
}

// endsOf is up to where the objects of a partition are complete.
func endsOf(names []schemas.ArchivedName, young map[schemas.ArchivedName]bool) map[int32]int64 {
	ends := make(map[int32]int64)
	for _, n := range names {
		if !young[rangeOf(n)] {
			ends[n.Partition] = max(ends[n.Partition], n.To)
		}
	}
	return ends
}

// Ends are the offsets of the destination's topic up to which the log reaches, by partition:
// with them [Open] returns it again.
func (l *Log) Ends() map[int32]int64 {
	ends := make(map[int32]int64, len(l.parts))
	for num, p := range l.parts {
		for _, f := range p.files {
			ends[num] = max(ends[num], f.To)
		}
	}
	return ends
}

// Offsets is how many offsets each partition has, from 0 on.
func (l *Log) Offsets() map[int32]int64 {
	all := make(map[int32]int64, len(l.parts))
	for num, p := range l.parts {
		all[num] = p.end
	}
	return all
}

// Objects is how many there are.
func (l *Log) Objects() (n int) {
	for _, p := range l.parts {
		n += len(p.files)
	}
	return n
}

// Digest tells a log from one of other objects.
func (l *Log) Digest() string {
	sum := sha256.New()
	for _, num := range slices.Sorted(maps.Keys(l.parts)) {
		for _, f := range l.parts[num].files {
			sum.Write([]byte(f.String() + "\n"))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
