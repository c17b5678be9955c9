package broker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"os"
)

// An entry of a state log is framed as kfake's writeEntry frames it, in little endian:
//
//	length of what follows the checksum (4 bytes), CRC-32C of it (4), version (2), JSON
const (
	entryHead    = 8
	entryVersion = 2
)

// mendStateLog removes from groups.log or pids.log what is not an intact entry. kfake stops reading at the first such
// bytes but leaves them where they are and appends behind them, so that everything it writes from then on is lost
// with the next kill: offsets committed over weeks fall back to those of the first one. An entry is cut short by
// a kill between two pages of one write, and by a full disk.
func mendStateLog(path string, log *slog.Logger) error {
	raw, err := os.ReadFile(path) //nolint:gosec // a file of the broker's own directory
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("read state log: %w", err)
	}
	intact := intactEntries(raw)
	if len(intact) == len(raw) {
		return nil
	}
	log.Warn("repaired after a kill: incomplete entry removed from a state log", "file", path, "bytes", len(raw)-len(intact))
	return replaceFile(path, intact)
}

// intactEntries returns the intact entries of a state log, also those behind broken bytes: after a full disk there
// are many. A checksum that fits by chance needs four billion attempts, more than broken bytes there can be.
func intactEntries(raw []byte) []byte {
	intact := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		size := entrySize(raw)
		if size == 0 {
			raw = raw[1:]
			continue
		}
		intact = append(intact, raw[:size]...)
		raw = raw[size:]
	}
	return intact
}

// entrySize returns the size of the intact entry that raw begins with, or 0 when there is none.
func entrySize(raw []byte) int {
	if len(raw) < entryHead+entryVersion {
		return 0
	}
	length := int64(binary.LittleEndian.Uint32(raw))
	if length < entryVersion || length > int64(len(raw)-entryHead) {
		return 0
	}
	size := entryHead + int(length)
	if crc32.Checksum(raw[entryHead:size], crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(raw[4:]) {
		return 0
	}
	return size
}
