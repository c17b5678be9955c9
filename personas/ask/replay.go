package ask

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
)

// workers is how many partitions are computed side by side.
const workers = 2

// replay computes users again from raw-events, with nothing committed: it begins with what
// the stage has of them, folds what some leaves lack, and looks at what would be told. A
// partition's users are in memory while it is computed, and those who have other ids until
// the end, since their calls may stand in other partitions.
type replay struct {
	log *Log
	c   *engine.Catalogue
	// refold says which leaves are folded from the beginning of raw-events.
	refold func(*changelog.Meta, engine.LeafID) bool
	// look is called with each user, before something is told and after: changes are what
	// would be told. One at a time.
	look func(u *computed)
	// told is called with what was told; nil: nobody wants to know. One at a time. With it
	// the stage has to be done with the definitions in force.
	told    func(*Told)
	inForce string

	mu        sync.Mutex
	done      int64
	total     int64
	asOf      map[int32]*Extent
	redirects map[string]string
	handed    map[string][]*engine.Profile // by the id that was merged away
	kept      []*computed
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
}

func (r *replay) run(ctx context.Context) error {
	r.asOf, r.redirects, r.handed = make(map[int32]*Extent), make(map[string]string), make(map[string][]*engine.Profile)
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
	r.merge()
	return nil
}

// part is a partition in the making.
type part struct {
	*replay

	num   int32
	meta  *place
	lacks map[engine.LeafID]time.Time // from when on calls count
	users map[string]*row
	seen  map[uint64]struct{} // calls that were folded: copies count once
	seed  maphash.Seed
	call  engine.Call
	*Extent
}

type row struct {
	record  []byte
	profile *engine.Profile
	before  *engine.Profile
}

func (r *replay) partition(ctx context.Context, num int32, told ranges.Range) error {
	p := &part{replay: r, num: num, users: make(map[string]*row), seen: make(map[uint64]struct{}), seed: maphash.MakeSeed()}
	quiet := &Log{Kafka: r.log.Kafka, Topics: r.log.Topics}
	places, err := quiet.state(ctx, []int32{num}, func(_ int32, user, record []byte) error {
		p.users[string(user)] = &row{record: record}
		return nil
	})
	if err != nil {
		return err
	}
	of := told
	p.meta = places[num]
	if r.told != nil {
		if err := p.meta.settled(num, r.inForce); err != nil {
			return err
		}
	}
	if p.meta == nil || p.meta.Catalogue == "" || p.meta.Idle {
		p.meta = new(place)
		p.meta.Raw = told.End // no stage has been here, or it keeps nothing
	}
	of.End = p.meta.Raw
	if r.told != nil {
		of.End = max(of.End, told.End)
	}
	of.Start = min(of.Start, of.End)
	p.Extent = &Extent{Partition: num, From: of.Start, Offset: p.meta.Raw, Clock: p.meta.now()}
	p.wants()
	if len(p.lacks) > 0 || r.told != nil {
		if err := p.read(ctx, quiet, of, told.End); err != nil {
			return err
		}
	}
	p.progress(of.End - of.Start)
	return p.evaluate()
}

// settled returns why the stage is not done with a partition.
func (p *place) settled(num int32, inForce string) error {
	phase := Waiting
	switch {
	case p == nil || p.Catalogue != inForce:
	case len(p.Fills) > 0:
		phase = Filling
	case p.Sweep != nil:
		phase = Sweeping
	default:
		return nil
	}
	return fmt.Errorf("partition %d is %s: expected the stage to be done with all definitions: see `anabranch personas list`", num, phase)
}

// wants finds out which leaves are folded.
func (p *part) wants() {
	p.lacks = make(map[engine.LeafID]time.Time)
	for _, id := range p.c.Leaves() {
		leaf, ok := p.c.Leaf(id)
		if !ok || !p.refold(&p.meta.Meta, id) || !leaf.History.Full && leaf.History.For == 0 {
			continue
		}
		p.lacks[id] = time.Time{}
		if !leaf.History.Full {
			p.lacks[id] = p.Clock.Add(-leaf.History.For)
		}
	}
}

func (p *part) read(ctx context.Context, log *Log, of ranges.Range, told int64) error {
	return log.read(ctx, schemas.TopicRawEvents, map[int32]ranges.Range{p.num: of}, func(rec *kgo.Record) error {
		if p.oldest.IsZero() {
			p.oldest = rec.Timestamp
		}
		h, broken := kafka.HeadersOf(rec)
		if broken != nil {
			return nil //nolint:nilerr // as for the stage, it is no call
		}
		switch {
		case h.Origin == schemas.OriginDeletion, h.Origin == schemas.OriginReplay && h.Source == workspace.SourcePersonas:
			return nil
		case h.Origin == schemas.OriginPersonas:
			return p.hear(rec, told)
		case rec.Offset >= p.Offset || len(p.lacks) == 0:
			return nil
		}
		p.Calls++
		p.call.Offset = rec.Offset
		if engine.ParseCall(&p.call, rec.Value, &h, rec.Timestamp) == nil {
			return p.fold()
		}
		return nil
	})
}

func (p *part) hear(rec *kgo.Record, told int64) error {
	if p.told == nil || rec.Offset >= told {
		return nil
	}
	t, ok, err := toldBy(rec)
	if err != nil || !ok || t.Cause == string(engine.CauseResync) {
		return err // what is told again was told
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told(&t)
	return nil
}

// fold takes the call in hand into those leaves of its user that lack it.
func (p *part) fold() error {
	only := func(id engine.LeafID) bool {
		since, lacks := p.lacks[id]
		return lacks && !p.call.Received.Before(since)
	}
	id := p.call.UserID
	if id == "" {
		id = p.call.AnonymousID
	}
	if id == "" || changelog.Reserved(id) || !p.c.Fills(&p.call, only) {
		return nil
	}
	var name maphash.Hash
	name.SetSeed(p.seed)
	for _, text := range []string{id, p.call.Source, p.call.MessageID} {
		_, _ = name.WriteString(text) // it never fails
		_ = name.WriteByte(0)
	}
	sum := name.Sum64()
	if _, copied := p.seen[sum]; copied && p.call.MessageID != "" {
		return nil
	}
	p.seen[sum] = struct{}{}
	u := p.users[id]
	if u == nil {
		u = new(row)
		p.users[strings.Clone(id)] = u
	}
	if err := p.open(u); err != nil {
		return err
	}
	if d := u.before.Deletion; d.Request == "" || p.call.Offset >= d.Offset {
		p.c.Fold(u.profile, &p.call, only)
	}
	return nil
}

// open decodes a user, without the leaves that are folded.
func (p *part) open(u *row) (err error) {
	if u.profile != nil {
		return nil
	}
	u.before = p.c.NewProfile()
	if u.record != nil {
		if u.before, err = p.c.Decode(u.record); err != nil {
			return err
		}
	}
	u.record = nil
	u.profile = u.before.Restart(func(id engine.LeafID) bool { _, lacks := p.lacks[id]; return lacks || p.refold(&p.meta.Meta, id) })
	return nil
}

// evaluate looks at the users of the partition whose calls are all known.
func (p *part) evaluate() error {
	for id, u := range p.users {
		if err := p.open(u); err != nil {
			return err
		}
		c := &computed{id: id, profile: u.profile, before: u.before, now: p.Clock}
		p.mu.Lock()
		switch {
		case u.before.Redirect != "":
			p.redirects[id] = u.before.Redirect
			p.handed[id] = append(p.handed[id], u.profile)
		case len(u.before.Links) > 0:
			p.kept = append(p.kept, c)
		default:
			p.judge(c)
		}
		p.mu.Unlock()
		delete(p.users, id)
	}
	p.mu.Lock()
	p.asOf[p.num] = p.Extent
	p.mu.Unlock()
	return nil
}

// judge has what would be told looked at.
func (r *replay) judge(u *computed) {
	u.changes = r.c.Advance(u.profile, u.now, nil, engine.CauseEdit)
	r.look(u)
}

// merge hands over what was folded of ids that were merged away.
func (r *replay) merge() {
	into := make(map[string]*computed, len(r.kept))
	for _, u := range r.kept {
		into[u.id] = u
	}
	for id, from := range r.handed {
		target := r.redirects[id]
		for range len(r.redirects) {
			next, further := r.redirects[target]
			if !further {
				break
			}
			target = next
		}
		for _, p := range from {
			if u := into[target]; u != nil {
				p.Redirect, p.Links = "", nil
				r.c.Merge(u.profile, p)
			}
		}
	}
	for _, u := range r.kept {
		r.judge(u)
	}
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
