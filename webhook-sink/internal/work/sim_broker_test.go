package work

import (
	"cmp"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

// simBroker stands for the brokers: partitions in memory, and what the group has
// committed of them. Records below a committed offset are let go.
type simBroker struct {
	gap int64 // up to so many offsets are no records, as with the markers of transactions

	mu         sync.Mutex
	partitions map[string]int32 // of each topic
	parts      map[partition.Place]*simPartition
	skipped    int64
}

type simPartition struct {
	records []*kgo.Record
	trimmed int // records let go
	next    int64
	reader  func(partition.Place) // told of what is appended; nil: nobody

	committed int64
	done      string
}

func newSimBroker() *simBroker {
	return &simBroker{partitions: make(map[string]int32), parts: make(map[partition.Place]*simPartition)}
}

func (b *simBroker) create(topic string, partitions int32) {
	b.partitions[topic] = partitions
	for num := range partitions {
		b.parts[partition.Place{Topic: topic, Num: num}] = &simPartition{}
	}
}

// consumed are the partitions of the topics that the sink reads.
func (b *simBroker) consumed() []partition.Place {
	var all []partition.Place
	for at := range b.parts {
		if at.Topic != schemas.TopicDeadLetters {
			all = append(all, at)
		}
	}
	slices.SortFunc(all, comparePlaces)
	return all
}

// comparePlaces puts the partitions of one number together, so that a part of all
// is a part of each topic.
func comparePlaces(a, b partition.Place) int {
	return cmp.Or(cmp.Compare(a.Num, b.Num), cmp.Compare(a.Topic, b.Topic))
}

// append writes a record to the partition of its key, at a time by the clock of
// whoever writes it.
func (b *simBroker) append(r *kgo.Record, at time.Time) {
	hash := fnv.New32a()
	_, _ = hash.Write(r.Key)
	b.mu.Lock()
	r.Partition = int32(hash.Sum32() % uint32(b.partitions[r.Topic]))
	place := partition.Place{Topic: r.Topic, Num: r.Partition}
	p := b.parts[place]
	if b.gap > 0 {
		b.skipped++
		p.next += b.skipped % b.gap
	}
	r.Offset, r.Timestamp = p.next, at
	p.next++
	if r.Topic != schemas.TopicDeadLetters {
		p.records = append(p.records, r)
	}
	reader := p.reader
	b.mu.Unlock()
	if reader != nil {
		reader(place)
	}
}

// read returns up to limit records from a position on, and the position behind
// them. Positions count records.
func (b *simBroker) read(at partition.Place, from, limit int) ([]*kgo.Record, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.parts[at]
	from = max(from, p.trimmed)
	to := min(from+limit, p.trimmed+len(p.records))
	return slices.Clone(p.records[from-p.trimmed : to-p.trimmed]), to
}

// assign makes reader the one that is told of records, and returns what the group
// has committed.
func (b *simBroker) assign(at partition.Place, reader func(partition.Place)) (from int, done offsets.Done) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.parts[at]
	p.reader = reader
	done = offsets.Decode(p.committed, p.done)
	if main, _, ok := done.Resume(p.committed); ok {
		return p.position(main), done
	}
	return p.position(p.committed), done
}

// part returns up to limit records from an offset on, and the offset behind them.
func (b *simBroker) part(at partition.Place, from int64, limit int) ([]*kgo.Record, int64) {
	b.mu.Lock()
	position := b.parts[at].position(from)
	b.mu.Unlock()
	records, _ := b.read(at, position, limit)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(records) < limit {
		return records, b.parts[at].next
	}
	return records, records[len(records)-1].Offset + 1
}

func (b *simBroker) release(at partition.Place) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parts[at].reader = nil
}

// position is how many records lie before an offset.
func (p *simPartition) position(offset int64) int {
	i, _ := slices.BinarySearchFunc(p.records, offset, func(r *kgo.Record, offset int64) int { return int(r.Offset - offset) })
	return p.trimmed + i
}

func (b *simBroker) commit(marks []partition.Watermark) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range marks {
		p := b.parts[marks[i].Place]
		below := p.position(marks[i].At.Offset) - p.trimmed
		clear(p.records[:below]) // or the array would keep them alive
		p.records, p.trimmed = p.records[below:], p.trimmed+below
		p.committed, p.done = marks[i].At.Offset, marks[i].Done
	}
}

// left is how many records the group has not finished.
func (b *simBroker) left() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := 0
	for _, p := range b.parts {
		done := offsets.Decode(p.committed, p.done)
		for _, r := range p.records {
			if !done.ContainsKey(r.Key, r.Offset, r.LeaderEpoch) {
				left++
			}
		}
	}
	return left
}
