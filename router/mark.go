package router

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
)

// mark is how far a partition is routed.
type mark struct {
	next   int64     // the offset behind what was routed
	newest time.Time // the latest time stamp of what was routed; zero: not known
	of     string    // the id of the topic that was routed; empty: not known
}

// What the words in the metadata of a commit begin with: the time stamp, and the topic's
// id, since groups keep offsets under the names of topics.
const (
	newestKey = "newest="
	topicKey  = "topic="
)

// metadata is what a commit says beside the offset.
func (m mark) metadata() string {
	var words []string
	if !m.newest.IsZero() {
		words = append(words, newestKey+strconv.FormatInt(m.newest.UnixMilli(), 10))
	}
	if m.of != "" {
		words = append(words, topicKey+m.of)
	}
	return strings.Join(words, " ")
}

// markOf reads a commit. Those of earlier releases, and of whoever set the offset by
// hand, know of no time.
func markOf(offset int64, metadata string) mark {
	m := mark{next: offset}
	for word := range strings.FieldsSeq(metadata) {
		if id, ok := strings.CutPrefix(word, topicKey); ok {
			m.of = id
		}
		if text, ok := strings.CutPrefix(word, newestKey); ok {
			if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
				m.newest = time.UnixMilli(ms)
			}
		}
	}
	return m
}

// marks are those of the partitions of this process. They may be used by many
// goroutines.
type marks struct {
	mu    sync.Mutex
	parts map[int32]mark
	fresh map[int32]bool // partitions whose mark is not kept yet
	// cuts is up to where partitions are known to have lost what was not routed.
	cuts map[int32]int64
	// last is how far partitions were routed when this process knew it last: it
	// outlives the session, and the partition's being ours.
	last map[int32]mark
}

func newMarks() *marks {
	return &marks{parts: make(map[int32]mark), fresh: make(map[int32]bool), cuts: make(map[int32]int64), last: make(map[int32]mark)}
}

// begin notes where routing of a partition goes on.
func (m *marks) begin(num int32, at mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parts[num], m.last[num] = at, at
	delete(m.fresh, num)
}

// lastOf returns how far this process has routed a partition, or had found it routed;
// nil: it has never had it.
func (m *marks) lastOf(num int32) *mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.last[num]
	if !ok {
		return nil
	}
	return &at
}

func (m *marks) forget(partitions []int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, num := range partitions {
		delete(m.parts, num)
		delete(m.fresh, num)
	}
}

// clear forgets all partitions: their session is over.
func (m *marks) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.parts)
	clear(m.fresh)
}

// lost notes that a partition has lost what was not routed before an offset, and
// reports whether that is news.
func (m *marks) lost(num int32, before int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.cuts[num]
	m.cuts[num] = before
	return !ok || known != before
}

// behind returns what the marks are once fetches are routed.
func (m *marks) behind(fetches kgo.Fetches) map[int32]mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	behind := make(map[int32]mark)
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if len(p.Records) == 0 {
			return
		}
		at, more := behind[p.Partition]
		if !more {
			at = m.parts[p.Partition]
		}
		for _, rec := range p.Records {
			if rec.Timestamp.After(at.newest) {
				at.newest = rec.Timestamp
			}
		}
		at.next = p.Records[len(p.Records)-1].Offset + 1
		behind[p.Partition] = at
	})
	return behind
}

// routed notes that the transaction which led to these marks has committed.
func (m *marks) routed(behind map[int32]mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for num, at := range behind {
		m.last[num] = at
		if _, ours := m.parts[num]; ours {
			m.parts[num], m.fresh[num] = at, true
		}
	}
}

// unkept returns the marks that changed since they were last asked for.
func (m *marks) unkept() map[int32]kafka.Commit {
	m.mu.Lock()
	defer m.mu.Unlock()
	commits := make(map[int32]kafka.Commit, len(m.fresh))
	for num := range m.fresh {
		at := m.parts[num]
		commits[num] = kafka.Commit{Offset: at.next, Metadata: at.metadata()}
	}
	clear(m.fresh)
	return commits
}

// again has marks that could not be kept returned once more.
func (m *marks) again(commits map[int32]kafka.Commit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for num := range commits {
		if _, ours := m.parts[num]; ours {
			m.fresh[num] = true
		}
	}
}

// annotate lets the commit of a transaction say how late the newest event is that was
// routed.
func annotate(behind map[int32]mark) func(*kmsg.TxnOffsetCommitRequest) error {
	return func(req *kmsg.TxnOffsetCommitRequest) error {
		for i := range req.Topics {
			for j := range req.Topics[i].Partitions {
				p := &req.Topics[i].Partitions[j]
				if at, ok := behind[p.Partition]; ok {
					text := at.metadata()
					p.Metadata = &text
				}
			}
		}
		return nil
	}
}

// bookmarkTime bounds the last bookmark of a session, for which the stop waits.
const bookmarkTime = time.Second

// bookmark copies how far partitions are routed to where brokers do not forget it.
// What a bookmark lacks is routed for a second time should the group lose its
// offsets, and at no other time.
func (r *Router) bookmark(ctx context.Context, client *kgo.Client) {
	if client == nil {
		return
	}
	commits := r.marks.unkept()
	err := kafka.CommitLasting(ctx, client, Bookmark, r.source, commits)
	if err == nil {
		r.unkept.Store(r.unkept.Load() && len(commits) == 0)
		return
	}
	r.marks.again(commits)
	if ctx.Err() == nil && r.unkept.CompareAndSwap(false, true) {
		r.log.Warn("copy of the group's offsets can't be written, routing continues without it, retrying", "group", Bookmark, "error", kafka.Advised(err))
	}
}
