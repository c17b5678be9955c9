package deadletters_test

import (
	"math"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/deadletters"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]deadletters.ID{
		"0-0":                            {},
		"3-1704":                         {Partition: 3, Offset: 1704},
		"2147483647-9223372036854775807": {Partition: math.MaxInt32, Offset: math.MaxInt64},
	} {
		if got, err := deadletters.ParseID(text); err != nil || got != want || got.String() != text {
			t.Errorf("ParseID(%s) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-", "3", "3-", "-3", "3-1-2", "a-1", "1-a", "+3-1", "3-+1", "3--1", "-3-1", "03-1", "3-01", "3 -1", "3-1 ", "3_1", "2147483648-0", "0-9223372036854775808", "0x1-1", "３-1"} {
		if got, err := deadletters.ParseID(text); err == nil || !strings.Contains(err.Error(), "<partition>-<offset>") {
			t.Errorf("ParseID(%q) = %v, %v, want an error that says what is expected", text, got, err)
		}
	}
}

func FuzzParseID(f *testing.F) {
	for _, seed := range []string{"0-0", "3-1704", "03-1", "2147483647-9223372036854775807", "-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := deadletters.ParseID(text)
		if err != nil {
			return
		}
		if id.String() != text || id.Partition < 0 || id.Offset < 0 {
			t.Errorf("ParseID(%q) = %v", text, id)
		}
	})
}
