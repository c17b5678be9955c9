package child

import (
	"os"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	cases := map[string]time.Duration{
		"1 (storm) S 0 1 1 0 -1 4194560 9 9 9 9 150 25 7 7 20 0":      1750 * time.Millisecond,
		"1 (a ) name (of) sorts) R 0 1 1 0 -1 0 9 9 9 9 1 0 7 7 20 0": 10 * time.Millisecond,
	}
	for stat, want := range cases {
		if got, err := parseStat([]byte(stat)); err != nil || got != want {
			t.Errorf("parseStat(%q): %s, %v, want %s", stat, got, err, want)
		}
	}
	for _, stat := range []string{"", "1 (storm) S 0 1", "1 (storm) S 0 1 1 0 -1 4194560 9 9 9 9 many 25 7"} {
		if got, err := parseStat([]byte(stat)); err == nil {
			t.Errorf("parseStat(%q): %s and no error, so a row would judge it", stat, got)
		}
	}
}

func TestCPUGrows(t *testing.T) {
	t.Parallel()
	before, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	err = Until(t.Context(), time.Minute, "some computing to be counted", func() bool {
		for range 10_000_000 {
		}
		now, nowErr := CPU(os.Getpid())
		return nowErr != nil || now > before
	})
	if err != nil {
		t.Error(err)
	}
}
