package messagetrace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestHint(t *testing.T) {
	t.Parallel()
	want := time.UnixMilli(1763812800123).UTC()
	for id, ok := range map[string]bool{
		"ajs-next-1763812800123-f47ac10b-58cc-4372-a567-0e02b2c3d479": true,
		"019aab6f-767b-7c4e-8a5f-0242ac120002":                        true,
		"ajs-next-17638128001-f47ac10b":                               false,
		"ajs-next-x":                                                  false,
		"f47ac10b-58cc-4372-a567-0e02b2c3d479":                        false, // version 4
		"019aab6f767b7c4e8a5f0242ac120002":                            false, // no UUID as it is written
		"m-7":                                                         false,
		"":                                                            false,
	} {
		if at, got := hint(id); got != ok || ok && !at.Equal(want) {
			t.Errorf("hint(%q) = %v, %v, want %v, %v", id, at, got, want, ok)
		}
	}
}

// TestWindowsAreAllOfTheTime, each moment in one of them, but for what is searched first.
func TestWindowsAreAllOfTheTime(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		since := noon.Add(-time.Duration(r.Int64N(int64(100 * time.Hour))))
		until := since.Add(time.Duration(r.Int64N(int64(100 * time.Hour))))
		id := ""
		if r.IntN(2) == 0 {
			id = fmt.Sprintf("ajs-next-%d-x", since.Add(time.Duration(r.Int64N(int64(100*time.Hour)))).UnixMilli())
		}
		all := windows(since, until, id, time.Second)
		if at, ok := hint(id); ok && at.After(since) && at.Before(until) {
			if first := all[0]; first.From.After(at) || !first.To.After(at) {
				t.Errorf("the id is of %v, and %v is searched first", at, first)
			}
			all = all[1:]
		}
		slices.Reverse(all)
		behind := since
		for _, w := range all {
			if !w.From.Equal(behind) || !w.To.After(w.From) {
				t.Fatalf("%v comes behind %v, of %v to %v", w, behind, since, until)
			}
			behind = w.To
		}
		if len(all) > 0 && !behind.Equal(until) || len(all) == 0 && since.Before(until) {
			t.Errorf("%d windows of %v to %v end with %v", len(all), since, until, behind)
		}
	}
}
