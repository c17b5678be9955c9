package ingest

import (
	"strconv"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

func TestParseTime(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{`"2026-11-21T01:08:14Z"`, "2026-11-21T01:08:14.000Z"},
		{`"2026-11-21T01:08:14+0000"`, "2026-11-21T01:08:14.000Z"}, // Go 2.1.1
		{`"2026-11-21T01:08:14.123456789Z"`, "2026-11-21T01:08:14.123Z"},
		{`"2026-11-21T01:08:14.999999999Z"`, "2026-11-21T01:08:14.999Z"},
		{`"2026-11-21T01:10:11.948306+00:00"`, "2026-11-21T01:10:11.948Z"}, // Python
		{`"2026-11-21T01:08:14.5Z"`, "2026-11-21T01:08:14.500Z"},
		{`"2026-11-21T01:08:14.05+01:30"`, "2026-11-20T23:38:14.050Z"},
		{`"2026-11-21T01:08:14-0130"`, "2026-11-21T02:38:14.000Z"},
		{`"2026-11-21T01:08:14"`, "2026-11-21T01:08:14.000Z"},
		{`"2026-11-21T01:08:14.250"`, "2026-11-21T01:08:14.250Z"},
		{`"2026-11-21T01:08Z"`, "2026-11-21T01:08:00.000Z"}, // Java, at a full minute
		{`"2026-11-21 01:08:14+00:00"`, "2026-11-21T01:08:14.000Z"},
		{`"2026-11-21t01:08:14z"`, "2026-11-21T01:08:14.000Z"},
		{`"2026-11-21"`, "2026-11-21T00:00:00.000Z"},
		{`"2024-02-29"`, "2024-02-29T00:00:00.000Z"},
		{`"2016-12-31T23:59:60Z"`, "2017-01-01T00:00:00.000Z"},
		{`"1969-12-31T23:59:59.9999Z"`, "1969-12-31T23:59:59.999Z"},
		{`"0000-01-01"`, "0000-01-01T00:00:00.000Z"},
		{`"9999-12-31T23:59:59.999Z"`, "9999-12-31T23:59:59.999Z"},
		{`1795223069458`, "2026-11-21T01:04:29.458Z"},
		{`1795223069`, "2026-11-21T01:04:29.000Z"},
		{`1795223069.458`, "2026-11-21T01:04:29.458Z"},
		{`1795223069.4589`, "2026-11-21T01:04:29.458Z"},
		{`1795223069.05`, "2026-11-21T01:04:29.050Z"},
		{`1795223069458.9`, "2026-11-21T01:04:29.458Z"},
		{`0`, "1970-01-01T00:00:00.000Z"},
		{`-1`, "1969-12-31T23:59:59.000Z"},
		{`-1.5`, "1969-12-31T23:59:58.500Z"},
		{`99999999999`, "5138-11-16T09:46:39.000Z"}, // the last that is seconds
		{`100000000000`, "1973-03-03T09:46:40.000Z"},
		{`-100000000000`, "1966-10-31T14:13:20.000Z"},
		{`253402300799999`, "9999-12-31T23:59:59.999Z"},

		{`253402300800000`, ""},
		{`999999999999999`, ""},
		{`9999999999999999`, ""},
		{`-99999999999`, ""}, // seconds, so before the year 0
		{`-62167219200001`, ""},
		{`1e+21`, ""},
		{`1e-7`, ""},
		{`1.5e-7`, ""},
		{`"1795223069458"`, ""},
		{`""`, ""},
		{`"now"`, ""},
		{`"2026"`, ""},
		{`"2026-11"`, ""},
		{`"2026-11-21T"`, ""},
		{`"2026-11-21T01"`, ""},
		{`"2026-11-21T01:08:14."`, ""},
		{`"2026-11-21T01:08:14.1234567890Z"`, ""},
		{`"2026-11-21T01:08:14,5Z"`, ""},
		{`"2026-11-21T01:08:14+01"`, ""},
		{`"2026-11-21T01:08:14+01:0"`, ""},
		{`"2026-11-21T01:08:14+24:00"`, ""},
		{`"2026-11-21T01:08:14+00:60"`, ""},
		{`"2026-11-21T01:08:14ZZ"`, ""},
		{`"2026-11-21T01:08:14 UTC"`, ""},
		{`" 2026-11-21"`, ""},
		{`"2026-11-21x"`, ""},
		{`"2026-13-01"`, ""},
		{`"2026-00-01"`, ""},
		{`"2026-11-00"`, ""},
		{`"2026-02-29"`, ""},
		{`"2026-11-31"`, ""},
		{`"2026-11-21T24:00:00Z"`, ""},
		{`"2026-11-21T01:60:00Z"`, ""},
		{`"2026-11-21T01:00:61Z"`, ""},
		{`"+002026-11-21"`, ""},
		{`"-001-11-21"`, ""},
		{`"20261121"`, ""},
		{`"0000-01-01T00:00:00+00:01"`, ""},
		{`"9999-12-31T23:59:59-00:01"`, ""},
		{`"2026-11-21\u0000"`, ""},
		{`"2026-11-2\""`, ""},
		{`true`, ""},
		{`{}`, ""},
		{`[]`, ""},
		{`null`, ""},
		{``, ""},
	} {
		got := ""
		if millis, ok := parseTime([]byte(c.value)); ok {
			got = time.UnixMilli(millis).UTC().Format(schemas.TimeLayout)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.value, got, c.want)
		}
	}
}

func TestAppendInstant(t *testing.T) {
	for _, millis := range []int64{minInstant, minInstant + 1, -1, 0, 1, 951_782_400_000, 1_795_223_069_458, maxInstant} {
		want := time.UnixMilli(millis).UTC().Format(strconv.Quote(schemas.TimeLayout))
		if got := string(appendInstant(nil, millis)); got != want {
			t.Errorf("%d: got %s, want %s", millis, got, want)
		}
	}
}

// FuzzParseTime holds the parser against Go's where that reads more than the
// shapes at hand, and against its own output.
func FuzzParseTime(f *testing.F) {
	for _, seed := range []string{
		`"2026-11-21T01:08:14+0000"`, `"2026-11-21T01:08:14.123456789Z"`, `"2026-11-21"`, `"2026-11-21 01:08"`,
		`1795223069.458`, `-62167219200000`, `253402300799999`, `1e999`, `"2016-12-31T23:59:60Z"`, `"9999-12-31T23:59:60-23:59"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, err := stablejson.Append(nil, []byte(text))
		if err != nil {
			return
		}
		millis, ok := parseTime(value)
		if plain, isText := stablejson.Text(value); isText {
			if want, err := time.Parse(time.RFC3339Nano, plain); err == nil && len(plain) <= len("2006-01-02T15:04:05.999999999-07:00") {
				inRange := want.UnixMilli() >= minInstant && want.UnixMilli() <= maxInstant
				if ok != inRange || ok && millis != want.UnixMilli() {
					t.Fatalf("%s: got %d %v, Go has %v", value, millis, ok, want)
				}
			}
		}
		if !ok {
			return
		}
		if millis < minInstant || millis > maxInstant {
			t.Fatalf("%s: %d is out of range", value, millis)
		}
		printed := appendInstant(nil, millis)
		if again, ok := parseTime(printed); !ok || again != millis {
			t.Fatalf("%s: printed %s, which reads %d %v", value, printed, again, ok)
		}
	})
}
