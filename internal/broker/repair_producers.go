package broker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"slices"
)

// producer is an entry of pids.log.
type producer struct {
	Type  string `json:"type"`
	ID    int64  `json:"pid"`
	Epoch int16  `json:"epoch"`
	// Commit says how a transaction ended: of an entry that says so that of this epoch, of one of type init the one before.
	Commit *bool `json:"commit,omitempty"`
}

// readProducers returns what the log of producers says last of each.
func readProducers(path string) (map[int64]producer, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // a file of the broker's own directory
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read producers: %w", err)
	}
	known := make(map[int64]producer)
	for size := entrySize(raw); size > 0; size = entrySize(raw) {
		var p producer
		if json.Unmarshal(raw[entryHead+entryVersion:size], &p) == nil {
			known[p.ID] = p
		}
		raw = raw[size:]
	}
	return known, nil
}

// isCommitting reports whether the last transaction of a producer was being committed: some partition has the marker, and
// the log of producers does not say yet that it was over. kfake gives a producer another epoch with each transaction;
// of a client that does not know that, a later transaction looks like one that was over, and is aborted.
func (p producer) isCommitting(all []*ending) bool {
	return p.Type != "" && p.Commit == nil && slices.ContainsFunc(all, func(e *ending) bool {
		epoch, done := e.commits[p.ID]
		return done && epoch == p.Epoch
	})
}

// fence raises the epochs of producers whose transactions were ended, and says how.
func fence(path string, known map[int64]producer, ids, committed []int64) error {
	var entries []byte
	for _, id := range ids {
		p, found := known[id]
		if !found {
			continue // nor does kfake know it
		}
		if p.Type, p.Commit = "endtx", new(slices.Contains(committed, id)); p.Epoch < math.MaxInt16 {
			p.Epoch++
		}
		text, err := json.Marshal(p)
		if err != nil {
			return fmt.Errorf("fence producer: %w", err)
		}
		entries = appendStateEntry(entries, text)
	}
	if len(entries) == 0 {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil {
		err = replaceEnd(path, info.Size(), entries)
	}
	if err != nil {
		return fmt.Errorf("fence producers: %w", err)
	}
	return nil
}

// appendStateEntry appends an entry of a state log.
func appendStateEntry(raw, text []byte) []byte {
	body := append([]byte{formatVersion, 0}, text...)
	raw = binary.LittleEndian.AppendUint32(raw, uint32(len(body)))
	raw = binary.LittleEndian.AppendUint32(raw, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	return append(raw, body...)
}
