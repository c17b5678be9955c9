package deadletters_test

import (
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/deadletters"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestParseTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"24h":                       noon.Add(-24 * time.Hour),
		"90m":                       noon.Add(-90 * time.Minute),
		"1h30m":                     noon.Add(-90 * time.Minute),
		"0s":                        noon,
		"2026-11-21":                noon.Add(-12 * time.Hour),
		"2026-11-20":                noon.Add(-36 * time.Hour),
		"2026-11-21T08:30:00Z":      noon.Add(-210 * time.Minute),
		"2026-11-21T08:30:00+02:00": noon.Add(-330 * time.Minute),
		"2026-11-21T11:59:59.250Z":  noon.Add(-750 * time.Millisecond),
	} {
		if got, err := deadletters.ParseTime(text, noon); err != nil || !got.Equal(want) {
			t.Errorf("ParseTime(%s) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "yesterday", "24", "-1h", "1d", "2026-11-22", "2026-11-21T13:00:00Z", "2026-13-01", "21.11.2026", "2026-11-21 08:30", "99999999h", "9223372036854775807h"} {
		if got, err := deadletters.ParseTime(text, noon); err == nil || !strings.Contains(err.Error(), `"`+text+`": expected a duration`) {
			t.Errorf("ParseTime(%q) = %v, %v, want an error that says what is expected", text, got, err)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, seed := range []string{"24h", "-1h", "2026-11-21", "2026-11-21T08:30:00+02:00", "9223372036854775807ns"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, err := deadletters.ParseTime(text, noon)
		if err == nil && (at.After(noon) || at.Location() != time.UTC || at.Year() < 1) {
			t.Errorf("ParseTime(%q) = %v", text, at)
		}
	})
}
