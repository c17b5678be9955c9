package ask

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/anabranch/anabranch/internal/spill"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
)

// workers is how many partitions are computed side by side.
const workers = 2

// replay computes users again from raw-events, with nothing committed: it begins with what
// the stage has of them, folds what some leaves lack, and looks at what would be told. What
// is known of a partition's users is put on piles, which are computed one by one. Users who
// have other ids come last, since their calls may stand in other partitions.
type replay struct {
	log *Log
	c   *engine.Catalogue
	// refold says which leaves are folded from the beginning of raw-events.
	refold func(*changelog.Meta, engine.LeafID) bool
	// look is called with each user, before something is told and after: changes are what
	// would be told. One at a time.
	look func(u *computed) error
	// hears says that what was told is of interest. The stage has to be done with the
	// definitions in force then.
	hears   bool
	inForce string

	seed  maphash.Seed // of which pile a user is on
	room  *spill.Room
	mu    sync.Mutex
	done  int64
	total int64
	asOf  map[int32]*Extent
	later later
}

// Extent is what was read of a partition of raw-events.
type Extent struct {
	Partition int32     `json:"partition"`
	From      int64     `json:"from"`
	Offset    int64     `json:"offset"` // what stands from there on is not known
	Clock     time.Time `json:"clock"`  // the partition's clock, by which things hold
	Calls     int64     `json:"calls"`  // of users

	oldest time.Time // when the first record was taken in
}

// computed is a user who is computed again.
type computed struct {
	id      string
	profile *engine.Profile
	before  *engine.Profile // as it was told last
	changes []engine.Change
	now     time.Time
	told    map[string]Told // what was told last of each key
	unknown bool            // what was told is all that is known of the user
}

func (r *replay) run(ctx context.Context) error {
	r.begin()
	defer r.later.close()
	err := r.all(ctx)
	if errors.Is(err, spill.ErrFull) {
		return fmt.Errorf("there are too many users and calls to compute them again here: ask the same with the command `anabranch personas`, which takes as much disk as it needs: %w", err)
	}
	return err
}

func (r *replay) all(ctx context.Context) error {
	// What was told by now is in the states that are read from here on.
	first, err := r.log.ranges(ctx, schemas.TopicRawEvents, nil)
	if err != nil {
		return err
	}
	nums := make(chan int32, len(first))
	for num, of := range first {
		r.total += of.End - of.Start
		nums <- num
	}
	close(nums)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for num := range nums {
				if err := r.partition(ctx, num, first[num]); err != nil {
					stop(err)
				}
			}
		})
	}
	working.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return r.merge(ctx)
}

// begin makes room for what is put aside, which [later.close] gives back.
func (r *replay) begin() {
	r.asOf, r.seed = make(map[int32]*Extent), maphash.MakeSeed()
	if r.log.Aside > 0 {
		r.room = spill.NewRoom(r.log.Aside)
	}
	r.later = newLater(r.room)
}

// pileOf is the key of the pile that a user is on.
func (r *replay) pileOf(user string) uint64 { return maphash.String(r.seed, user) }

// judge has what would be told looked at.
func (r *replay) judge(u *computed) error {
	if !u.unknown {
		u.changes = r.c.Advance(u.profile, u.now, nil, engine.CauseEdit)
	}
	return r.look(u)
}

func (r *replay) progress(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done += n
	if r.log.Progress != nil {
		r.log.Progress(r.done, r.total)
	}
}

// extents are what was read, by partition.
func (r *replay) extents() []Extent {
	all := make([]Extent, 0, len(r.asOf))
	for _, e := range r.asOf {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b Extent) int { return int(a.Partition - b.Partition) })
	return all
}
