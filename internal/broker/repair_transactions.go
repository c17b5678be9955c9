package broker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// endTransactions writes to the log how the transactions ended that were open at a kill.
//
// kfake aborts them as it loads the log, and notes that nowhere: once their producer has committed something else,
// the next load takes that commit for theirs too, and shows what was aborted. And it forgets that a commit was under
// way: what that had ended on some partitions stayed committed there, and the rest was aborted.
//
// So a transaction of which a partition has the marker of a commit is committed in all, and any other aborted, as
// by a broker that comes back. A producer that lives on in another process must not go on with what was aborted: its
// epoch is raised before. Each step can be made again, should there be a kill in the midst of it.
//
// It must not run while there is a session_state.json, which has open transactions that go on.
func endTransactions(logDir string, dirs []string, log *slog.Logger) error {
	all := make([]*ending, 0, len(dirs))
	for _, dir := range dirs {
		e, err := readEnding(dir)
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	ids := unfinished(all)
	if len(ids) == 0 {
		return nil
	}
	path := filepath.Join(logDir, "pids.log")
	known, err := readProducers(path)
	if err != nil {
		return err
	}
	committing := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return !known[id].isCommitting(all) })
	if err = endEach(all, committing, true); err == nil {
		err = fence(path, known, ids, committing)
	}
	if err == nil {
		err = endEach(all, ids, false)
	}
	log.Info("transactions that were open at the kill are ended", "committed", len(committing), "aborted", len(ids)-len(committing))
	return err
}

// ending is how the log of a partition ends.
type ending struct {
	segment string          // the last one, without .dat
	batches int             // whole ones in it
	bytes   int64           // of them
	next    int64           // offset behind the last batch
	leader  int32           // epoch of the partition's leader
	open    map[int64]int16 // epochs of producers with an open transaction
	commits map[int64]int16 // epochs of producers whose last marker is that of a commit
}

func readEnding(dir string) (*ending, error) {
	segments, err := segmentsOf(dir)
	if err != nil {
		return nil, err
	}
	e := &ending{open: make(map[int64]int16), commits: make(map[int64]int16)}
	for _, s := range segments {
		e.segment, e.batches, e.bytes = filepath.Join(dir, strconv.FormatInt(s.base, 10)), 0, 0
		raw, err := os.ReadFile(e.segment + ".dat")
		if err != nil {
			return nil, fmt.Errorf("read segment: %w", err)
		}
		for batch := range batches(raw) {
			e.add(batch)
		}
	}
	return e, nil
}

// add takes in the next batch of the log.
func (e *ending) add(batch []byte) {
	e.batches++
	e.bytes += int64(len(batch))
	e.next = int64(binary.BigEndian.Uint64(batch)) + int64(binary.BigEndian.Uint32(batch[batchDeltaAt:])) + 1
	e.leader = int32(binary.BigEndian.Uint32(batch[batchEpochAt:]))
	producer := int64(binary.BigEndian.Uint64(batch[batchProducerAt:]))
	epoch := int16(binary.BigEndian.Uint16(batch[batchProducerEpochAt:]))
	attributes := binary.BigEndian.Uint16(batch[batchAttributesAt:])
	switch {
	case attributes&controlBit != 0 && isCommit(batch[batchHead:]):
		delete(e.open, producer)
		e.commits[producer] = epoch
	case attributes&controlBit != 0:
		delete(e.open, producer)
		delete(e.commits, producer)
	case attributes&transactionalBit != 0:
		e.open[producer] = epoch
	}
}

// isCommit reports whether the record of a control batch says so. One that can't be read does not, as kfake has it.
func isCommit(records []byte) bool {
	var record kmsg.Record
	var key kmsg.ControlRecordKey
	return record.ReadFrom(records) == nil && key.ReadFrom(record.Key) == nil && key.Type == kmsg.ControlRecordKeyTypeCommit
}

// unfinished are the producers that have a transaction open on some partition.
func unfinished(all []*ending) []int64 {
	some := make(map[int64]bool)
	for _, e := range all {
		for id := range e.open {
			some[id] = true
		}
	}
	return slices.Sorted(maps.Keys(some))
}

// endEach ends the transactions of producers wherever they are open.
func endEach(all []*ending, ids []int64, commit bool) error {
	for _, e := range all {
		for _, id := range ids {
			epoch, isOpen := e.open[id]
			if !isOpen {
				continue
			}
			if err := e.write(marker(e, id, epoch, commit, time.Now())); err != nil {
				return fmt.Errorf("end transactions: %w", err)
			}
		}
	}
	return nil
}

// marker is the batch that ends a transaction.
func marker(e *ending, producer int64, epoch int16, commit bool, now time.Time) []byte {
	key := kmsg.ControlRecordKey{Type: kmsg.ControlRecordKeyTypeAbort}
	if commit {
		key.Type = kmsg.ControlRecordKeyTypeCommit
	}
	record := kmsg.Record{Key: key.AppendTo(nil), Value: (&kmsg.EndTxnMarker{}).AppendTo(nil)}
	record.Length = int32(len(record.AppendTo(nil)) - 1)
	batch := (&kmsg.RecordBatch{
		FirstOffset: e.next, PartitionLeaderEpoch: e.leader, Magic: 2, Attributes: controlBit | transactionalBit,
		FirstTimestamp: now.UnixMilli(), MaxTimestamp: now.UnixMilli(),
		ProducerID: producer, ProducerEpoch: epoch, FirstSequence: -1, NumRecords: 1, Records: record.AppendTo(nil),
	}).AppendTo(nil)
	binary.BigEndian.PutUint32(batch[batchLengthAt:], uint32(len(batch)-batchLengthAt-4))
	binary.BigEndian.PutUint32(batch[batchSumAt:], crc32.Checksum(batch[batchAttributesAt:], crc32.MakeTable(crc32.Castagnoli)))
	return batch
}

// write appends a batch and its index entry to the last segment, in place of what was cut short there.
func (e *ending) write(batch []byte) error {
	entry := indexOf(batch)
	err := errors.Join(
		replaceEnd(e.segment+".dat", e.bytes, batch),
		replaceEnd(e.segment+".idx", int64(e.batches*indexEntry), entry),
	)
	e.add(batch)
	return err
}

// replaceEnd replaces all of a file from a place on.
func replaceEnd(path string, from int64, by []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600) //nolint:gosec // a file of the broker's own directory
	if err != nil {
		return err
	}
	_, err = f.WriteAt(by, from)
	if err == nil {
		err = f.Truncate(from + int64(len(by)))
	}
	return errors.Join(err, f.Close())
}
