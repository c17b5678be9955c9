package terminal

import (
	"testing"
	"time"
)

func TestSafe(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "-",
		"crm":                         "crm",
		"endpoint 1 of 2: status 400": "endpoint 1 of 2: status 400",
		"a\x1b[2Jb":                   `"a\x1b[2Jb"`,
		"a\u009b2Jb":                  `"a\u009b2Jb"`,
		"two\nlines":                  `"two\nlines"`,
		"\xff":                        `"\xff"`,
		"\u202egnp.exe":               `"\u202egnp.exe"`,
		"Zoë":                         "Zoë",
	} {
		if got := Safe(text); got != want {
			t.Errorf("Safe(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestMoment(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 10, 2, 3, 4e8, time.FixedZone("", 3600))
	if got := Moment(at); got != "2026-11-21 09:02:03Z" {
		t.Errorf("Moment = %s", got)
	}
	if got := Moment(time.Time{}); got != "-" {
		t.Errorf("Moment of none = %s", got)
	}
}

func TestBrief(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second:                        "0s",
		0:                                   "0s",
		999 * time.Millisecond:              "0s",
		59 * time.Second:                    "59s",
		time.Minute:                         "1m",
		12*time.Minute + 4*time.Second:      "12m4s",
		4 * time.Hour:                       "4h",
		3*time.Hour + 59*time.Second:        "3h",
		3*time.Hour + 5*time.Minute:         "3h5m",
		24 * time.Hour:                      "1d",
		30*24*time.Hour + 23*time.Hour:      "30d23h",
		24*time.Hour + 59*time.Minute:       "1d",
		24*time.Hour - 500*time.Millisecond: "23h59m",
	} {
		if got := Brief(d); got != want {
			t.Errorf("Brief(%s) = %s, want %s", d, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1_204: "1,204", 1_000_000: "1,000,000", 12_345_678: "12,345,678", -1_204: "-1,204"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %s, want %s", n, got, want)
		}
	}
}
