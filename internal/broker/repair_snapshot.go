package broker

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// dropStaleSnapshot removes the snapshot of a partition that was taken while a transaction was open, when the file that
// describes the transaction is gone. kfake writes both at a clean stop, and deletes the latter when it has loaded it. A kill
// soon after leaves a snapshot that still fits the segments, and loading it would leave the last stable offset behind for
// good: readers of committed records would wait, and the next commit on the partition would show them the records of the
// dead transaction. Without a snapshot kfake reads the segments, and aborts what is open.
//
// It must not run while there is a session_state.json.
func dropStaleSnapshot(dir string, log *slog.Logger) error {
	path := filepath.Join(dir, "snapshot.json")
	var snapshot struct {
		HighWatermark    int64 `json:"high_watermark"`
		LastStableOffset int64 `json:"last_stable_offset"`
	}
	found, err := readJSON(path, &snapshot)
	if err != nil || !found || snapshot.LastStableOffset >= snapshot.HighWatermark {
		return err
	}
	log.Warn("repaired after a kill: snapshot with an open transaction removed", "file", path)
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove stale snapshot: %w", err)
	}
	return nil
}
