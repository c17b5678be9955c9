// Package mark knows how far partitions are processed: a [Mark] travels in the commits
// of a group, and [Marks] are those of the partitions of this process.
//
// A broker forgets what a group has committed seven days after its last member has left,
// but for commits that say how long they are to be kept ([Bookmark]). Only old versions of
// the request can say it (TestALastingCommitSaysSo); Apache Kafka 4 still obeys.
package mark

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
)

// Mark is how far a partition is processed.
type Mark struct {
	Next   int64     // the offset behind what was processed
	Newest time.Time // the latest time stamp of what was processed; zero: not known
	Of     string    // the id of the topic that was processed; empty: not known
}

// What the words in the metadata of a commit begin with: the time stamp, and the topic's
// id, since groups keep offsets under the names of topics.
const (
	newestKey = "newest="
	topicKey  = "topic="
)

// Metadata is what a commit says beside the offset.
func (m Mark) Metadata() string {
	var words []string
	if !m.Newest.IsZero() {
		words = append(words, newestKey+strconv.FormatInt(m.Newest.UnixMilli(), 10))
	}
	if m.Of != "" {
		words = append(words, topicKey+m.Of)
	}
	return strings.Join(words, " ")
}

// Read reads a commit. Those of earlier releases, and of whoever set the offset by
// hand, know of no time.
func Read(offset int64, metadata string) Mark {
	m := Mark{Next: offset}
	for word := range strings.FieldsSeq(metadata) {
		if id, ok := strings.CutPrefix(word, topicKey); ok {
			m.Of = id
		}
		if text, ok := strings.CutPrefix(word, newestKey); ok {
			if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
				m.Newest = time.UnixMilli(ms)
			}
		}
	}
	return m
}

// Marks are those of the partitions of this process. They may be used by many
// goroutines.
type Marks struct {
	mu    sync.Mutex
	parts map[kafka.Partition]Mark
	fresh map[kafka.Partition]bool // partitions whose mark is not kept yet
	// cuts is up to where partitions are known to have lost what was not processed.
	cuts map[kafka.Partition]int64
	// last is how far partitions were processed when this process knew it last: it
	// outlives the session, and the partition's being ours.
	last map[kafka.Partition]Mark
}

// New returns the marks of a process that has processed nothing yet.
func New() *Marks {
	return &Marks{parts: make(map[kafka.Partition]Mark), fresh: make(map[kafka.Partition]bool), cuts: make(map[kafka.Partition]int64), last: make(map[kafka.Partition]Mark)}
}

// Begin notes where processing of a partition goes on.
func (m *Marks) Begin(p kafka.Partition, at Mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parts[p], m.last[p] = at, at
	delete(m.fresh, p)
}

// LastOf returns how far this process has processed a partition, or had found it
// processed; nil: it has never had it.
func (m *Marks) LastOf(p kafka.Partition) *Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.last[p]
	if !ok {
		return nil
	}
	return &at
}

// Forget forgets partitions that are somebody else's now.
func (m *Marks) Forget(partitions []kafka.Partition) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range partitions {
		delete(m.parts, p)
		delete(m.fresh, p)
	}
}

// Without returns the partitions that are not among some.
func (m *Marks) Without(some []kafka.Partition) []kafka.Partition {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Collect(maps.Keys(m.parts)), func(p kafka.Partition) bool { return slices.Contains(some, p) })
}

// Clear forgets all partitions, whose session is over, and returns them.
func (m *Marks) Clear() []kafka.Partition {
	m.mu.Lock()
	defer m.mu.Unlock()
	partitions := slices.Collect(maps.Keys(m.parts))
	clear(m.parts)
	clear(m.fresh)
	return partitions
}

// Lost notes that a partition has lost what was not processed before an offset, and
// reports whether that is news.
func (m *Marks) Lost(p kafka.Partition, before int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.cuts[p]
	m.cuts[p] = before
	return !ok || known != before
}

// Behind returns what the marks are once fetches are processed.
func (m *Marks) Behind(fetches kgo.Fetches) map[kafka.Partition]Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	behind := make(map[kafka.Partition]Mark)
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if len(p.Records) == 0 {
			return
		}
		of := kafka.Partition{Topic: p.Topic, Num: p.Partition}
		at, more := behind[of]
		if !more {
			at = m.parts[of]
		}
		for _, rec := range p.Records {
			if rec.Timestamp.After(at.Newest) {
				at.Newest = rec.Timestamp
			}
		}
		at.Next = p.Records[len(p.Records)-1].Offset + 1
		behind[of] = at
	})
	return behind
}

// Processed notes that the transaction which led to these marks has committed.
func (m *Marks) Processed(behind map[kafka.Partition]Mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p, at := range behind {
		m.last[p] = at
		if _, ours := m.parts[p]; ours {
			m.parts[p], m.fresh[p] = at, true
		}
	}
}

// Unkept returns the marks that changed since they were last asked for.
func (m *Marks) Unkept() map[kafka.Partition]kafka.Commit {
	m.mu.Lock()
	defer m.mu.Unlock()
	commits := make(map[kafka.Partition]kafka.Commit, len(m.fresh))
	for p := range m.fresh {
		at := m.parts[p]
		commits[p] = kafka.Commit{Offset: at.Next, Metadata: at.Metadata()}
	}
	clear(m.fresh)
	return commits
}

// Again has marks that could not be kept returned once more.
func (m *Marks) Again(commits map[kafka.Partition]kafka.Commit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p := range commits {
		if _, ours := m.parts[p]; ours {
			m.fresh[p] = true
		}
	}
}

// Annotate lets the commit of a transaction say how late the newest record is that was
// processed.
func Annotate(behind map[kafka.Partition]Mark) func(*kmsg.TxnOffsetCommitRequest) error {
	return func(req *kmsg.TxnOffsetCommitRequest) error {
		for i := range req.Topics {
			for j := range req.Topics[i].Partitions {
				p := &req.Topics[i].Partitions[j]
				if at, ok := behind[kafka.Partition{Topic: req.Topics[i].Topic, Num: p.Partition}]; ok {
					text := at.Metadata()
					p.Metadata = &text
				}
			}
		}
		return nil
	}
}
