package digest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/seen"
)

// Restorer restores sets.
type Restorer struct {
	Log     *slog.Logger
	Kafka   []kgo.Opt // of every client of the process
	Client  *kgo.Client
	Store   *seen.Store
	Window  time.Duration
	Calls   string // the topic with the calls
	Digests string
}

// At is where the processing of a partition goes on.
type At struct {
	Next    int64
	Newest  time.Time // time stamp of the latest call before that; zero: not known
	TopicID string
}

const (
	// patience is how long brokers may have nothing to say before a set is not restored.
	patience = 30 * time.Second
	// slack is how much earlier than a call its digest may seem to be written.
	slack = time.Hour
	// mostAhead is how many digests may be ahead of what is missing before that is read.
	mostAhead = 64
	// around is how much is read to find the time of the last call.
	around = 64 << 10
)

// part is a set that is being restored.
type part struct {
	*seen.Set

	num   int32
	at    At
	calls *Calls
	ahead []digest // that do not follow yet

	digests, read int // calls by where they came from
}

// discard closes a set that was not restored, and removes files that are why.
func (p *part) discard() {
	if p.Err() != nil {
		_ = p.Wipe() // which is tried again when it is opened
		return
	}
	p.Close()
}

// Restore opens the sets of partitions as they are at an offset each. An error leaves none
// open.
func (r *Restorer) Restore(ctx context.Context, at map[int32]At) (sets map[int32]*seen.Set, err error) {
	began := time.Now()
	parts := make(map[int32]*part, len(at))
	defer func() {
		if err != nil {
			for _, p := range parts {
				p.discard()
			}
		}
	}()
	behind := make(map[int32]*part)
	for num, where := range at {
		p := r.open(num, where)
		if parts[num] = p; p.Next() != where.Next {
			behind[num] = p
		}
	}
	if len(behind) > 0 {
		if err = r.catchUp(ctx, behind); err != nil {
			return nil, fmt.Errorf("restore which calls were seen: %w", err)
		}
	}
	sets = make(map[int32]*seen.Set, len(parts))
	digests, read := 0, 0
	for num, p := range parts {
		sets[num] = p.Set
		digests, read = digests+p.digests, read+p.read
	}
	r.Log.Info("calls seen before are known", "partitions", len(sets), "from_digests", digests, "from_calls", read, "took", time.Since(began).Round(time.Millisecond))
	return sets, nil
}

// open opens a set as its files have it, unless that is ahead.
func (r *Restorer) open(num int32, at At) *part {
	p := &part{Set: r.Store.Set(num, r.Calls, at.TopicID), num: num, at: at, calls: Of(at.TopicID)}
	if p.Next() > at.Next {
		r.Log.Warn("files of calls seen are ahead of what was processed, they are replaced", "partition", num, "known", p.Next(), "processed", at.Next)
		p.Set = p.Anew()
	}
	return p
}

// catchUp brings sets up to where processing goes on.
func (r *Restorer) catchUp(ctx context.Context, parts map[int32]*part) error {
	for _, p := range parts {
		if err := r.begin(ctx, p); err != nil {
			return err
		}
	}
	if err := r.readDigests(ctx, parts); err != nil {
		return err
	}
	for _, p := range parts {
		if err := r.fill(ctx, p, 0); err != nil {
			return err
		}
		if err := r.readCalls(ctx, p, p.at.Next); err != nil {
			return err
		}
		if err := p.Loaded(); err != nil {
			return err
		}
	}
	return nil
}

// begin finds where the horizon of a set begins. What it knows counts from there on.
func (r *Restorer) begin(ctx context.Context, p *part) error {
	if p.at.Newest.IsZero() {
		newest, err := r.newest(ctx, p)
		if err != nil {
			return err
		}
		p.at.Newest = newest
	}
	all, err := ranges.List(ctx, r.Client, r.Calls, r.since(p))
	if err != nil {
		return err
	}
	// Of a horizon that no record is in, nothing is worth knowing.
	start := min(all[p.num].Start, p.at.Next)
	if p.Next() >= 0 && p.Next() < start {
		p.Set = p.Anew()
	}
	if p.Next() < 0 {
		p.Add(start, 0, nil)
	}
	return nil
}

// since is when the horizon of a set begins, and a bucket before.
func (r *Restorer) since(p *part) time.Time {
	if p.at.Newest.IsZero() {
		return time.Time{} // all there is
	}
	return p.at.Newest.Add(-r.Window - r.Store.Width())
}

// newest looks for the time of the last call that was processed; zero: it is gone.
func (r *Restorer) newest(ctx context.Context, p *part) (newest time.Time, err error) {
	all, err := ranges.List(ctx, r.Client, r.Calls, time.Time{})
	if err != nil {
		return newest, err
	}
	start := all[p.num].Start
	for back := int64(1); newest.IsZero() && start < p.at.Next; back *= 100 {
		from := max(p.at.Next-back, start)
		found, err := ranges.Fetch(ctx, r.Client, r.Calls, p.num, from, around)
		if err != nil {
			return newest, err
		}
		for _, rec := range found.Records {
			if rec.Offset < p.at.Next && rec.Timestamp.After(newest) {
				newest = rec.Timestamp
			}
		}
		if from == start {
			break
		}
	}
	return newest, nil
}

// readDigests takes up what digests have of all parts. Without the topic, or the right to
// read it, the calls themselves are read.
func (r *Restorer) readDigests(ctx context.Context, parts map[int32]*part) error {
	var since time.Time
	for _, p := range parts {
		from := r.since(p)
		if from.IsZero() {
			since = from
			break
		}
		if from = from.Add(-slack); since.IsZero() || from.Before(since) {
			since = from
		}
	}
	all, err := ranges.List(ctx, r.Client, r.Digests, since)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.Log.Warn("digests of calls seen can't be read, the calls are", "topic", r.Digests, "error", err)
		return nil
	}
	maps.DeleteFunc(all, func(num int32, _ ranges.Range) bool { return parts[num] == nil })
	return ranges.Read(ctx, r.Kafka, ranges.Spans(r.Digests, all), ranges.Limits{Patience: patience}, func(s *ranges.Span, rec *kgo.Record) error {
		d, err := parse(rec.Value)
		if err != nil {
			r.Log.Warn("digest of calls seen is of no use", "topic", r.Digests, "partition", rec.Partition, "offset", rec.Offset, "error", err)
			return nil
		}
		return r.take(ctx, parts[s.Partition], d)
	})
}

// take takes a digest up, now or once it follows.
func (r *Restorer) take(ctx context.Context, p *part, d digest) error {
	if d.of != p.Identity() || d.to <= p.Next() || d.to > p.at.Next {
		return nil // of another topic, known, or of a time that never was
	}
	p.ahead = append(p.ahead, d)
	if d.from > p.Next() && len(p.ahead) <= mostAhead {
		return nil
	}
	return r.fill(ctx, p, mostAhead)
}

// fill takes up digests that follow, and reads what is missing before others as long as
// there are more of them than may be.
func (r *Restorer) fill(ctx context.Context, p *part, most int) error {
	slices.SortFunc(p.ahead, func(a, b digest) int { return cmp.Compare(a.from, b.from) })
	for len(p.ahead) > 0 {
		d := p.ahead[0]
		if d.from > p.Next() {
			if len(p.ahead) <= most {
				return nil
			}
			if err := r.readCalls(ctx, p, d.from); err != nil {
				return err
			}
		}
		if d.to > p.Next() {
			p.digests += len(d.fps)
			if err := p.Load(min(d.from, p.Next()), d.to, d.bucket, d.fps); err != nil {
				return err
			}
		}
		p.ahead = p.ahead[1:]
	}
	return nil
}

// readCalls takes up the calls themselves up to an offset.
func (r *Restorer) readCalls(ctx context.Context, p *part, to int64) error {
	if p.Next() >= to {
		return nil
	}
	var fps []seen.Fingerprint
	bucket := p.Bucket()
	load := func(upTo int64) error {
		err := p.Load(p.Next(), upTo, bucket, fps)
		p.read += len(fps)
		fps = fps[:0]
		return err
	}
	span := &ranges.Span{Topic: r.Calls, Partition: p.num, Next: p.Next(), End: to}
	err := ranges.Read(ctx, r.Kafka, []*ranges.Span{span}, ranges.Limits{Patience: patience}, func(_ *ranges.Span, rec *kgo.Record) error {
		if now := r.Store.Bucket(rec.Timestamp); now > bucket || len(fps) == Most {
			if err := load(rec.Offset); err != nil {
				return err
			}
			bucket = max(bucket, now)
		}
		if fp, ok := p.calls.Fingerprint(rec); ok {
			fps = append(fps, fp)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return load(to)
}
