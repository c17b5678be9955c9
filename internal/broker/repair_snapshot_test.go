package broker

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestDropStaleSnapshot(t *testing.T) {
	tests := map[string]struct {
		snapshot string
		kept     bool
	}{
		"transaction open": {`{"high_watermark":10,"last_stable_offset":7}`, false},
		"none open":        {`{"high_watermark":10,"last_stable_offset":10}`, true},
		"empty partition":  {`{"high_watermark":0,"last_stable_offset":0}`, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "snapshot.json")
			if err := os.WriteFile(path, []byte(test.snapshot), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := dropStaleSnapshot(dir, quiet()); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) == test.kept {
				t.Errorf("kept = %t, want %t", err == nil, test.kept)
			}
		})
	}
	if err := dropStaleSnapshot(t.TempDir(), quiet()); err != nil {
		t.Errorf("without a snapshot: %v", err)
	}
}
