package decode

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRows of a file stand alone: two of them are not put together to a call, nor is one
// taken for two.
func TestRows(t *testing.T) {
	t.Parallel()
	rows := []string{
		`{"type":"track","userId":"u","event":"A","timestamp":"2019-03-02T10:00:00Z","originalTimestamp":"2019-03-02T09:59:00+0000","sentAt":"2019-03-02T09:59:30Z","receivedAt":"2019-03-02T10:00:01Z","_metadata":{},"version":2}`,
		`{"type":"identify","userId":"u","traits":{"a":1`,
		`}}`,
		`{"type":"identify","userId":"u"},{"type":"identify","userId":"v"}`,
		`{"type":"page","userId":"u","messageId":"m"}`,
		`{"type":"track","userId":"u"}`,
		`{"type":"track","userId":"u","event":"B","timestamp":"soon"}`,
		strings.Repeat("[", 600),
	}
	texts := make([][]byte, len(rows))
	for i, row := range rows {
		texts[i] = []byte(row)
	}
	var d Decoder
	d.ParseRows(texts)
	refused, err := d.Accept(Terms{
		ReceivedAt: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC),
		Import:     &Import{Drop: []string{"_metadata", "version"}, MessageID: func(row int) string { return fmt.Sprint("row-", row) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range d.Events().Len() {
		e := d.Events().At(i)
		got = append(got, fmt.Sprint(e.Happened, " ", string(e.Value)))
	}
	want := []string{
		`{1551520800000 true} {"type":"track","userId":"u","event":"A","timestamp":"2019-03-02T10:00:00.000Z","originalTimestamp":"2019-03-02T09:59:00.000Z","sentAt":"2019-03-02T09:59:30.000Z","receivedAt":"2026-11-22T12:00:00.000Z","messageId":"row-0"}`,
		`{0 false} {"type":"page","userId":"u","messageId":"m","timestamp":"2026-11-22T12:00:00.000Z","receivedAt":"2026-11-22T12:00:00.000Z"}`,
		`{0 false} {"type":"track","userId":"u","event":"B","timestamp":"2026-11-22T12:00:00.000Z","messageId":"row-6","receivedAt":"2026-11-22T12:00:00.000Z"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	var codes []string
	for _, r := range refused {
		codes = append(codes, fmt.Sprint(r.Index, " ", r.Code))
	}
	if diff := cmp.Diff([]string{"1 invalid_json", "2 invalid_json", "3 invalid_json", "5 event_not_defined", "7 too_large"}, codes); diff != "" || d.Unreadable() != 1 {
		t.Errorf("%d times can't be read, refused (-want +got):\n%s", d.Unreadable(), diff)
	}
}
