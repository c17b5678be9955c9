package decode

import (
	"testing"
	"time"

	"github.com/anabranch/anabranch/ingest/internal/timestamp"
)

func TestSkewedClocks(t *testing.T) {
	d := new(Decoder)
	for body, want := range map[string]timestamp.Skew{
		`{"batch":[{"type":"identify","userId":"u"}]}`:                                                                                                       {},
		`{"batch":[{"type":"identify","userId":"u"}],"sentAt":"2026-11-21T12:45:00Z"}`:                                                                       {},
		`{"batch":[{"type":"identify","userId":"u"}],"sentAt":"2026-11-21T12:59:59.999Z"}`:                                                                   {Calls: 1, Ahead: time.Hour - time.Millisecond},
		`{"batch":[{"type":"identify","userId":"u"}],"sentAt":"2026-11-21T11:14:59.999Z"}`:                                                                   {Calls: 1, Ahead: -timestamp.MaxSkew - time.Millisecond},
		`{"batch":[{"type":"identify","userId":"u","timestamp":"1999-01-01"}]}`:                                                                              {}, // a historical import
		`{"batch":[{"type":"identify","userId":"u","sentAt":"2026-11-21T12:00:00Z"}],"sentAt":0}`:                                                            {},
		`{"batch":[{"type":"identify","userId":"u","sentAt":"2026-11-21T15:00:00Z"},{"type":"identify","userId":"u"}],"sentAt":"2026-11-20T12:00:00Z"}`:      {Calls: 2, Ahead: 3 * time.Hour},
		`{"batch":[{"type":"identify","userId":"u"},{"type":"identify","userId":"u","sentAt":"2026-11-21T12:00:00Z"}],"sentAt":"2026-11-20T12:00:00+01:00"}`: {Calls: 1, Ahead: -25 * time.Hour},
	} {
		accept(t, d, "", body, Terms{})
		if got := d.Skew(); got != want {
			t.Errorf("%s: got %+v, want %+v", body, got, want)
		}
	}
}
