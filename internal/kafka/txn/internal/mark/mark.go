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
	parts map[int32]Mark
	fresh map[int32]bool // partitions whose mark is not kept yet
	// cuts is up to where partitions are known to have lost what was not processed.
	cuts map[int32]int64
	// last is how far partitions were processed when this process knew it last: it
	// outlives the session, and the partition's being ours.
	last map[int32]Mark
}

// New returns the marks of a process that has processed nothing yet.
func New() *Marks {
	return &Marks{parts: make(map[int32]Mark), fresh: make(map[int32]bool), cuts: make(map[int32]int64), last: make(map[int32]Mark)}
}

// Begin notes where processing of a partition goes on.
func (m *Marks) Begin(num int32, at Mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parts[num], m.last[num] = at, at
	delete(m.fresh, num)
}

// LastOf returns how far this process has processed a partition, or had found it
// processed; nil: it has never had it.
func (m *Marks) LastOf(num int32) *Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.last[num]
	if !ok {
		return nil
	}
	return &at
}

// Forget forgets partitions that are somebody else's now.
func (m *Marks) Forget(partitions []int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, num := range partitions {
		delete(m.parts, num)
		delete(m.fresh, num)
	}
}

// Clear forgets all partitions, whose session is over, and returns them.
func (m *Marks) Clear() []int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	partitions := slices.Collect(maps.Keys(m.parts))
	clear(m.parts)
	clear(m.fresh)
	return partitions
}

// Lost notes that a partition has lost what was not processed before an offset, and
// reports whether that is news.
func (m *Marks) Lost(num int32, before int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.cuts[num]
	m.cuts[num] = before
	return !ok || known != before
}

// Behind returns what the marks are once fetches are processed.
func (m *Marks) Behind(fetches kgo.Fetches) map[int32]Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	behind := make(map[int32]Mark)
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if len(p.Records) == 0 {
			return
		}
		at, more := behind[p.Partition]
		if !more {
			at = m.parts[p.Partition]
		}
		for _, rec := range p.Records {
			if rec.Timestamp.After(at.Newest) {
				at.Newest = rec.Timestamp
			}
		}
		at.Next = p.Records[len(p.Records)-1].Offset + 1
		behind[p.Partition] = at
	})
	return behind
}

// Processed notes that the transaction which led to these marks has committed.
func (m *Marks) Processed(behind map[int32]Mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for num, at := range behind {
		m.last[num] = at
		if _, ours := m.parts[num]; ours {
			m.parts[num], m.fresh[num] = at, true
		}
	}
}

// Unkept returns the marks that changed since they were last asked for.
func (m *Marks) Unkept() map[int32]kafka.Commit {
	m.mu.Lock()
	defer m.mu.Unlock()
	commits := make(map[int32]kafka.Commit, len(m.fresh))
	for num := range m.fresh {
		at := m.parts[num]
		commits[num] = kafka.Commit{Offset: at.Next, Metadata: at.Metadata()}
	}
	clear(m.fresh)
	return commits
}

// Again has marks that could not be kept returned once more.
func (m *Marks) Again(commits map[int32]kafka.Commit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for num := range commits {
		if _, ours := m.parts[num]; ours {
			m.fresh[num] = true
		}
	}
}

// Annotate lets the commit of a transaction say how late the newest record is that was
// processed.
func Annotate(behind map[int32]Mark) func(*kmsg.TxnOffsetCommitRequest) error {
	return func(req *kmsg.TxnOffsetCommitRequest) error {
		for i := range req.Topics {
			for j := range req.Topics[i].Partitions {
				p := &req.Topics[i].Partitions[j]
				if at, ok := behind[p.Partition]; ok {
					text := at.Metadata()
					p.Metadata = &text
				}
			}
		}
		return nil
	}
}
