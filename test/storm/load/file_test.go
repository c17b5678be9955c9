package load

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/anabranch/anabranch/test/storm/books"
)

// TestFile: its rows bear the stamps that are returned, but for those that are refused.
func TestFile(t *testing.T) {
	t.Parallel()
	f := File{Path: filepath.Join(t.TempDir(), "calls.ndjson.gz"), Rows: 10, BadEvery: 4}
	good, err := f.Write("run", "rows", 3)
	if err != nil || len(good) != 8 || f.Bad() != 2 {
		t.Fatalf("%d rows are good and %d bad, %v", len(good), f.Bad(), err)
	}
	file, err := os.Open(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := bufio.NewScanner(text)
	for row := 1; rows.Scan(); row++ {
		var call struct {
			Event     string `json:"event"`
			MessageID string `json:"messageId"`
		}
		if err := json.Unmarshal(rows.Bytes(), &call); err != nil {
			t.Fatal(err)
		}
		if bad := row%4 == 0; bad != (call.Event == "") {
			t.Errorf("row %d is %s", row, rows.Bytes())
		} else if bad {
			continue
		}
		if s, err := books.ParseStamp(call.MessageID); err != nil || s.String() != good[0].String() {
			t.Errorf("row %d is of %v, want %v", row, s, good[0])
		}
		good = good[1:]
	}
	if len(good) > 0 {
		t.Errorf("%d rows are not there", len(good))
	}
}
