package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// Get implements [Store].
func (d *disk) Get(partition int32, user []byte) (record []byte, ok bool, err error) {
	return d.value(recordKey(partition, user))
}

// Checkpoint implements [Store].
func (d *disk) Checkpoint(partition int32) (checkpoint []byte, ok bool, err error) {
	return d.value(appendPrefix(nil, checkpoints, partition))
}

// value returns a copy of what is under a key.
func (d *disk) value(key []byte) (value []byte, ok bool, err error) {
	if err = d.enter(); err != nil {
		return nil, false, err
	}
	defer d.leave()
	stored, closer, err := d.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, d.read(err)
	}
	value = append([]byte{}, stored...)
	return value, true, d.read(closer.Close())
}

// Apply implements [Store].
func (d *disk) Apply(b *Batch) error {
	if err := b.check(); err != nil {
		return err
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	if err := d.await(b.size); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.db.NewBatchWithSize(b.size + 32*(b.Len()+len(b.checkpoints)))
	defer func() { _ = out.Close() }() // it has no error but of being closed twice
	if err := d.fill(out, b); err != nil {
		return err
	}
	if err := out.Commit(pebble.NoSync); err != nil {
		return d.written(err)
	}
	return nil
}

// fill writes a batch as pebble's. It may lower low before the batch is written, which does no harm.
func (d *disk) fill(out *pebble.Batch, b *Batch) error {
	var key []byte
	for _, w := range b.writes {
		key = append(appendPrefix(key[:0], records, w.partition), w.user...)
		var err error
		if w.record == nil {
			err = out.Delete(key, nil)
		} else {
			err = out.Set(key, w.record, nil)
		}
		if err != nil {
			return d.written(err)
		}
	}
	for partition, checkpoint := range b.checkpoints {
		if err := out.Set(appendPrefix(key[:0], checkpoints, partition), checkpoint, nil); err != nil {
			return d.written(err)
		}
	}
	return d.fillTimers(out, b)
}

// fillTimers writes what changes in the index. Nothing is looked up: setting a timer that is there, and deleting one that is
// not, change nothing.
func (d *disk) fillTimers(out *pebble.Batch, b *Batch) error {
	for _, w := range b.timers {
		key := timerKey(w.partition, w.timer)
		var err error
		if w.set {
			err = out.Set(key, nil, nil)
			d.lower(w.partition, key)
		} else {
			err = out.Delete(key, nil)
		}
		if err != nil {
			return d.written(err)
		}
	}
	return nil
}

// lower has reading begin at a key, if it would begin behind it.
func (d *disk) lower(partition int32, key []byte) {
	if low, ok := d.low[partition]; ok && bytes.Compare(key, low) < 0 {
		d.low[partition] = bytes.Clone(key)
	}
}

// Due implements [Store].
func (d *disk) Due(partition int32, after Timer, until time.Time, limit int) ([]Timer, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	if limit <= 0 {
		return nil, nil
	}
	d.mu.Lock() // a batch that lowers low is seen whole or not at all
	defer d.mu.Unlock()
	prefix := appendPrefix(nil, timers, partition)
	low, ok := d.low[partition]
	if !ok {
		low = prefix
	}
	end := behind(appendInstant(bytes.Clone(prefix), until))
	from := low
	if !after.zero() {
		from = append(timerKey(partition, after), 0)
	}
	if bytes.Compare(from, end) >= 0 {
		return nil, nil
	}
	var due []Timer
	err := d.each(from, end, func(key, _ []byte) bool {
		due = append(due, readTimer(bytes.Clone(key[prefixLen:])))
		return len(due) < limit
	})
	if err != nil {
		return nil, err
	}
	if after.zero() { // what was deleted before the first is not passed again
		d.low[partition] = end
		if len(due) > 0 {
			d.low[partition] = timerKey(partition, due[0])
		}
	}
	return due, nil
}

// Scan implements [Store].
func (d *disk) Scan(partition int32, from []byte, visit func(user, record []byte) bool) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	end := behind(appendPrefix(nil, records, partition))
	var closed error
	err := d.each(recordKey(partition, from), end, func(key, record []byte) bool {
		if closed = d.open(); closed != nil {
			return false
		}
		return visit(key[prefixLen:], record)
	})
	return errors.Join(closed, err)
}

// Partitions implements [Store].
func (d *disk) Partitions() ([]int32, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	var all []int32
	err := d.each([]byte{byte(checkpoints)}, behind([]byte{byte(checkpoints)}), func(key, _ []byte) bool {
		all = append(all, int32(binary.BigEndian.Uint32(key[1:])))
		return true
	})
	return all, err
}

// each calls visit for the keys from one up to another, until it returns false.
func (d *disk) each(from, end []byte, visit func(key, value []byte) bool) error {
	it, err := d.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: end})
	if err != nil {
		return d.read(err)
	}
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return errors.Join(d.read(err), it.Close())
		}
		if !visit(it.Key(), value) {
			break
		}
	}
	return d.read(it.Close()) // the error of reading, too
}

// Wipe implements [Store].
func (d *disk) Wipe(partition int32) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	d.mu.Lock() // not between the looks and the writes of a batch
	defer d.mu.Unlock()
	out := d.db.NewBatch()
	defer func() { _ = out.Close() }() // it has no error but of being closed twice
	for _, k := range []kind{checkpoints, records, timers} {
		prefix := appendPrefix(nil, k, partition)
		if err := out.DeleteRange(prefix, behind(prefix), nil); err != nil {
			return d.written(err)
		}
	}
	if err := out.Commit(pebble.NoSync); err != nil {
		return d.written(err)
	}
	return nil
}
