package store

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/RaduBerinde/btreemap"
)

// degree of the trees: nodes of 31 to 63 entries, of which 64 users' headers fill a few cache lines.
const degree = 32

// tree holds entries by the order of their keys' bytes.
type tree = btreemap.BTreeMap[string, []byte]

// entryOverhead is what an entry takes beside the bytes of its key and value: their headers, a part of a node that is two
// thirds full, and what allocations are rounded up by (BenchmarkMemoryPerUser).
const entryOverhead = 130

// memory is a store that ends with its process.
type memory struct {
	mu         sync.RWMutex
	partitions map[int32]*share
	bytes      int64
	closed     bool
}

// share is what a memory has of one partition.
type share struct {
	records    *tree
	timers     *tree // keys of timers without values
	checkpoint []byte
}

// NewMemory returns an empty store in memory. It takes about 130 bytes for each record, and no more for each timer, beside their own.
func NewMemory() Store {
	return &memory{partitions: make(map[int32]*share)}
}

// Get implements [Store].
func (m *memory) Get(partition int32, user []byte) (record []byte, ok bool, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	s, err := m.share(partition)
	if s == nil {
		return nil, false, err
	}
	_, record, ok = s.records.Get(string(user)) // what is written later is another one
	return record, ok, nil
}

// Apply implements [Store].
func (m *memory) Apply(b *Batch) error {
	if err := b.check(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	for partition, checkpoint := range b.checkpoints {
		if m.partitions[partition] == nil {
			m.partitions[partition] = &share{records: newTree(), timers: newTree()}
		}
		m.partitions[partition].checkpoint = slices.Clone(checkpoint)
	}
	for _, w := range b.writes {
		m.write(m.partitions[w.partition].records, string(w.user), w.record)
	}
	for _, w := range b.timers {
		var present []byte
		if w.set {
			present = []byte{}
		}
		m.write(m.partitions[w.partition].timers, string(appendTimer(nil, w.timer)), present)
	}
	return nil
}

func newTree() *tree {
	return btreemap.New[string, []byte](degree, strings.Compare)
}

// write sets a value, or removes one if it is nil.
func (m *memory) write(in *tree, key string, value []byte) {
	var old []byte
	var replaced bool
	if value == nil {
		_, old, replaced = in.Delete(key)
	} else {
		_, old, replaced = in.ReplaceOrInsert(key, value)
		m.bytes += int64(len(key)+len(value)) + entryOverhead
	}
	if replaced {
		m.bytes -= int64(len(key)+len(old)) + entryOverhead
	}
}

// Due implements [Store].
func (m *memory) Due(partition int32, after Timer, until time.Time, limit int) ([]Timer, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	s, err := m.share(partition)
	if s == nil || limit <= 0 {
		return nil, err
	}
	from := btreemap.Min[string]()
	if !after.zero() {
		from = btreemap.GT(string(appendTimer(nil, after)))
	}
	var due []Timer
	for key := range s.timers.Ascend(from, btreemap.Max[string]()) {
		t := readTimer([]byte(key))
		if t.Due.After(until) || len(due) == limit {
			break
		}
		due = append(due, t)
	}
	return due, nil
}

// Scan implements [Store].
func (m *memory) Scan(partition int32, from []byte, visit func(user, record []byte) bool) error {
	m.mu.Lock() // a clone changes the tree that it is made of
	s, err := m.share(partition)
	var records *tree
	if s != nil {
		records = s.records.Clone()
	}
	m.mu.Unlock()
	if records == nil {
		return err
	}
	var user []byte
	for key, record := range records.Ascend(btreemap.GE(string(from)), btreemap.Max[string]()) {
		user = append(user[:0], key...)
		if !visit(user, record) {
			break
		}
	}
	return nil
}

// Checkpoint implements [Store].
func (m *memory) Checkpoint(partition int32) (checkpoint []byte, ok bool, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	s, err := m.share(partition)
	if s == nil {
		return nil, false, err
	}
	return bytes.Clone(s.checkpoint), true, nil
}

// Partitions implements [Store].
func (m *memory) Partitions() ([]int32, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return nil, ErrClosed
	}
	var all []int32
	for partition := range m.partitions {
		all = append(all, partition)
	}
	slices.Sort(all)
	return all, nil
}

// Wipe implements [Store].
func (m *memory) Wipe(partition int32) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.share(partition)
	if s == nil {
		return err
	}
	for _, t := range []*tree{s.records, s.timers} {
		for key, value := range t.Ascend(btreemap.Min[string](), btreemap.Max[string]()) {
			m.bytes -= int64(len(key)+len(value)) + entryOverhead
		}
	}
	delete(m.partitions, partition)
	return nil
}

// Stats implements [Store].
func (m *memory) Stats() Stats {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return Stats{MemoryBytes: m.bytes}
}

// Close implements [Store].
func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.closed, m.partitions, m.bytes = true, nil, 0
	return nil
}

// share returns what there is of a partition, or nil.
func (m *memory) share(partition int32) (*share, error) {
	if m.closed {
		return nil, ErrClosed
	}
	return m.partitions[partition], nil
}
