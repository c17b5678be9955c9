package broker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
)

// A record batch on disk is as on the wire, in big endian. These are the places in its head that matter here.
const (
	batchLengthAt     = 8  // of what follows the length, 4 bytes
	batchEpochAt      = 12 // of the partition's leader, 4 bytes
	batchSumAt        = 17 // CRC-32C of all that follows it, 4 bytes
	batchAttributesAt = 21 // 2 bytes
	batchDeltaAt      = 23 // of the last record's offset, 4 bytes
	batchProducerAt   = 43 // 8 bytes
	batchHead         = 61

	batchProducerEpochAt = 51 // 2 bytes

	transactionalBit = 0x10
	controlBit       = 0x20
)

// An entry of an index, in little endian:
//
//	version (1 byte), low byte of the CRC-32C of the rest (1), leader epoch (4), unused on load (8), in a transaction (1)
const indexEntry = 15

// mendIndexes writes the indexes of a partition anew where they don't fit their segments.
//
// An index says of each batch, by its number in the segment, whether it was written inside a transaction. kfake
// appends batch and index entry one after the other, so a kill between the two leaves a batch without an entry. kfake
// then loads it as not transactional, which shows readers of committed records what was never committed, and takes
// the entry of the next batch for it at the next load, and so on. Everything that an entry says stands in the batch
// too, so the index can be derived.
//
// Only the last segment can be affected by a kill. An index that is no whole number of entries was cut short by a full disk.
func mendIndexes(dir string, log *slog.Logger) error {
	segments, err := segmentsOf(dir)
	if err != nil {
		return err
	}
	for i, s := range segments {
		name := filepath.Join(dir, strconv.FormatInt(s.base, 10))
		index, err := os.ReadFile(name + ".idx") //nolint:gosec // a file of the broker's own directory
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read index: %w", err)
		}
		if i < len(segments)-1 && len(index) > 0 && len(index)%indexEntry == 0 {
			continue
		}
		segment, err := os.ReadFile(name + ".dat") //nolint:gosec // a file of the broker's own directory
		if err != nil {
			return fmt.Errorf("read segment: %w", err)
		}
		want := indexOf(segment)
		if sameIndex(index, want) {
			continue
		}
		log.Warn("repaired after a kill: index rebuilt", "file", name+".idx",
			"entries", len(index)/indexEntry, "batches", len(want)/indexEntry)
		if err := replaceFile(name+".idx", want); err != nil {
			return err
		}
	}
	return nil
}

// indexOf derives the index of a segment from its whole batches. What follows them was cut short; kfake removes it.
func indexOf(segment []byte) []byte {
	var index []byte
	for batch := range batches(segment) {
		index = appendEntry(index, batch[:batchHead])
	}
	return index
}

// batches are the whole ones of a segment.
func batches(segment []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(segment) >= batchHead {
			size := batchLengthAt + 4 + int64(binary.BigEndian.Uint32(segment[batchLengthAt:]))
			if size < batchHead || size > int64(len(segment)) || !yield(segment[:size]) {
				return
			}
			segment = segment[size:]
		}
	}
}

func appendEntry(index, head []byte) []byte {
	var entry [indexEntry]byte
	entry[0] = formatVersion
	binary.LittleEndian.PutUint32(entry[2:], binary.BigEndian.Uint32(head[batchEpochAt:]))
	attributes := binary.BigEndian.Uint16(head[batchAttributesAt:])
	if attributes&transactionalBit != 0 && attributes&controlBit == 0 {
		entry[14] = 1
	}
	entry[1] = byte(crc32.Checksum(entry[2:], crc32.MakeTable(crc32.Castagnoli)))
	return append(index, entry[:]...)
}

// sameIndex compares what kfake reads from an index: the epoch and the flag, and that the checksum fits.
func sameIndex(got, want []byte) bool {
	if len(got) != len(want) {
		return false
	}
	for i := 0; i < len(want); i += indexEntry {
		g, w := got[i:i+indexEntry], want[i:i+indexEntry]
		checksum := byte(crc32.Checksum(g[2:], crc32.MakeTable(crc32.Castagnoli)))
		if g[1] != checksum || g[14] != w[14] || !bytes.Equal(g[2:6], w[2:6]) {
			return false
		}
	}
	return true
}
