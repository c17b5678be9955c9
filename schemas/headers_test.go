package schemas_test

import (
	"errors"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
)

// ingested is what ingest encodes for a common call.
func ingested() schemas.Headers {
	return schemas.Headers{
		Source:       "website",
		Type:         schemas.TypeTrack,
		MessageID:    "ajs-next-1795223069775-32c94278-bae2-4580-8ccc-4edf95b3be26",
		Integrations: []byte(`{"All":false,"Webhooks":true}`),
		Origin:       schemas.OriginAPI,
	}
}

// buried is a dead letter: it has every header.
func buried() schemas.Headers {
	h := ingested()
	h.Only = []string{"crm", "lake-2"}
	h.Happened = time.UnixMilli(-86400000).UTC()
	h.Received = time.UnixMilli(1795223069700).UTC()
	h.TraceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	h.Run = "20261123-024501-7f3a"
	h.Destination = "crm"
	h.Attempt = 12
	h.FirstAttempt = time.UnixMilli(1795223069775).UTC()
	h.Due = time.UnixMilli(1795223079775).UTC()
	h.Reason = schemas.ReasonWindowExceeded
	h.Detail = "HTTP 503 from endpoint 2"
	h.Endpoints = []uint64{0, 0x9f86d081884c7d65, math.MaxUint64}
	h.From = schemas.Position{Topic: "deliver.crm"}
	h.Reference = true
	h.FailedAt = time.UnixMilli(1795237469775).UTC()
	return h
}

func collect(h *schemas.Headers) map[string]string {
	all := make(map[string]string)
	for key, value := range h.All() {
		all[key] = string(value)
	}
	return all
}

func sequence(all map[string]string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if !yield(key, []byte(all[key])) {
				return
			}
		}
	}
}

// The wire form is a contract with records already in the log: it never changes.
func TestHeadersWire(t *testing.T) {
	t.Parallel()
	h := buried()
	want := map[string]string{
		"source":         "website",
		"type":           "track",
		"message-id":     "ajs-next-1795223069775-32c94278-bae2-4580-8ccc-4edf95b3be26",
		"integrations":   `{"All":false,"Webhooks":true}`,
		"origin":         "api",
		"only":           "crm,lake-2",
		"happened":       "-86400000",
		"received":       "1795223069700",
		"traceparent":    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"run":            "20261123-024501-7f3a",
		"destination":    "crm",
		"attempt":        "12",
		"first-attempt":  "1795223069775",
		"due":            "1795223079775",
		"reason":         "window_exceeded",
		"detail":         "HTTP 503 from endpoint 2",
		"endpoints":      "0000000000000000,9f86d081884c7d65,ffffffffffffffff",
		"from-topic":     "deliver.crm",
		"from-partition": "0",
		"from-offset":    "0",
		"reference":      "true",
		"failed-at":      "1795237469775",
	}
	if diff := cmp.Diff(want, collect(&h)); diff != "" {
		t.Errorf("encoded (-want +got):\n%s", diff)
	}
	got, err := schemas.ParseHeaders(sequence(want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, got); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
}

func TestHeadersLeaveOutZeroFields(t *testing.T) {
	t.Parallel()
	h := schemas.Headers{Integrations: []byte{}, Endpoints: []uint64{}, From: schemas.Position{Partition: 3, Offset: 4}}
	if got := collect(&h); len(got) != 0 {
		t.Errorf("encoded %v, want nothing", got)
	}
	got, err := schemas.ParseHeaders(sequence(nil))
	if diff := cmp.Diff(schemas.Headers{}, got); err != nil || diff != "" {
		t.Errorf("decode nothing: error %v, headers (-want +got):\n%s", err, diff)
	}
}

// The bound of each header: the last value that is taken and the first that is
// not. Every error names the header and what was expected there.
func TestParseHeadersBounds(t *testing.T) {
	t.Parallel()
	const (
		ids       = "expected 1 to 64 lower-case letters, digits and hyphens"
		topics    = "expected 1 to 249 bytes"
		times     = "expected a decimal number from 0 to 253402300799999, Unix milliseconds"
		endpoints = "expected 1 to 5 fingerprints of 16 hexadecimal digits, separated by commas"
	)
	print1 := "0123456789abcdef"
	repeat := strings.Repeat
	from := map[string]string{"from-topic": "t", "from-partition": "0", "from-offset": "0"}
	for key, c := range map[string]struct {
		good, bad []string
		expected  string
	}{
		"source":         {good: []string{"a", repeat("z", 64), "a-0"}, bad: []string{"", repeat("z", 65), "A", "a_b", "a b", "é"}, expected: ids},
		"destination":    {good: []string{"crm", repeat("9", 64)}, bad: []string{"", repeat("9", 65), "a/b", "a.b"}, expected: ids},
		"run":            {good: []string{"r", repeat("9", 64)}, bad: []string{"", repeat("9", 65), "a/b", "A"}, expected: ids},
		"type":           {good: []string{"alias", "delete"}, bad: []string{"", "Alias", "t", repeat("x", 1<<20)}, expected: "expected one of [identify track page screen group alias delete]"},
		"origin":         {good: []string{"api", "personas", "deletion", "replay"}, bad: []string{"", "API", "apis"}, expected: "expected one of [api personas deletion replay]"},
		"reason":         {good: []string{"tls", "status_5xx", "of_a_later_release2", repeat("r", 40)}, bad: []string{"", "TLS", "a-b", repeat("r", 41)}, expected: "expected 1 to 40 lower-case letters, digits and underscores"},
		"version":        {good: []string{"1", "01"}, bad: []string{"", "0", "-1", "1000", "one"}, expected: "expected a decimal number from 1 to 999"},
		"only":           {good: []string{"-", "crm", repeat(repeat("z", 64)+",", 99) + "a"}, bad: []string{"", ",", "crm,", ",crm", "crm,,lake", "crm, lake", "CRM", repeat("z", 65), repeat("a,", 100) + "a", repeat("z", 1<<20)}, expected: "expected 1 to 100 ids of lower-case letters, digits and hyphens, separated by commas"},
		"happened":       {good: []string{"0", "-253402300799999"}, bad: []string{"", "-", "--1", "253402300800000", "now"}, expected: "expected a decimal number from -253402300799999 to 253402300799999, Unix milliseconds"},
		"received":       {good: []string{"0", "253402300799999"}, bad: []string{"", "-1", "253402300800000", "now"}, expected: times},
		"message-id":     {good: []string{"m", repeat("🛶", 100), "\xff"}, bad: []string{"", repeat("m", 101), repeat("é", 101), repeat("m", 1<<20)}, expected: "expected 1 to 100 characters"},
		"integrations":   {good: []string{"{}", `{"` + repeat("x", 32768-6) + `":1}`}, bad: []string{"", "{", "}", "[]", "null", `"{}"`, ` {}`, `{"` + repeat("x", 32768-5) + `":1}`}, expected: "expected a JSON object of at most 32768 bytes"},
		"attempt":        {good: []string{"0", "1", "2147483647"}, bad: []string{"", "-1", "2147483648", "1.0", "0x1", "1 ", "many", repeat("0", 20)}, expected: "expected a decimal number from 0 to 2147483647"},
		"first-attempt":  {good: []string{"0", "253402300799999"}, bad: []string{"", "-1", "253402300800000", "2026-11-21T01:04:29.685Z"}, expected: times},
		"due":            {good: []string{"1"}, bad: []string{"", "1e3", repeat("1", 1<<20)}, expected: times},
		"failed-at":      {good: []string{"1"}, bad: []string{"", "never"}, expected: times},
		"detail":         {good: []string{"d", repeat("d", 256)}, bad: []string{"", repeat("d", 257)}, expected: "expected 1 to 256 bytes"},
		"endpoints":      {good: []string{print1, repeat(print1+",", 4) + print1}, bad: []string{"", ",", print1 + ",", "," + print1, repeat(print1+",", 5) + print1, print1[1:], print1 + print1, print1 + ";" + print1, "0x" + print1[2:], "+" + print1[1:]}, expected: endpoints},
		"from-topic":     {good: []string{"deliver.crm", repeat("t", 249)}, bad: []string{"", repeat("t", 250)}, expected: topics},
		"from-partition": {good: []string{"0", "2147483647"}, bad: []string{"", "-1", "2147483648"}, expected: "expected a decimal number from 0 to 2147483647"},
		"from-offset":    {good: []string{"0", "9223372036854775807"}, bad: []string{"", "-1", "9223372036854775808"}, expected: "expected a decimal number from 0 to 9223372036854775807"},
		"reference":      {good: []string{"true"}, bad: []string{"", "false", "1", "TRUE"}, expected: "expected true"},
	} {
		for _, good := range c.good {
			headers := maps.Clone(from)
			headers[key] = good
			if _, err := schemas.ParseHeaders(sequence(headers)); err != nil {
				t.Errorf("%s = %.40q: %v, want none", key, good, err)
			}
		}
		for _, bad := range c.bad {
			_, err := schemas.ParseHeaders(sequence(map[string]string{key: bad}))
			if err == nil || !strings.HasPrefix(err.Error(), "header "+key+": found ") || !strings.Contains(err.Error(), c.expected) {
				t.Errorf("%s = %.40q: error %v, want one that says %q", key, bad, err, c.expected)
			} else if len(err.Error()) > 400 {
				t.Errorf("%s: error of %d bytes, want it short", key, len(err.Error()))
			}
		}
	}
}

// A partition or offset alone would make position 0 of whatever is missing.
func TestParseHeadersTakesAPositionWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	whole := map[string]string{"from-topic": "t", "from-partition": "0", "from-offset": "0"}
	for missing := range whole {
		part := maps.Clone(whole)
		delete(part, missing)
		if _, err := schemas.ParseHeaders(sequence(part)); err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("without %s: error %v, want one that names it", missing, err)
		}
	}
}

func TestParseHeadersIgnoresUnknownKeys(t *testing.T) {
	t.Parallel()
	h := ingested()
	all := collect(&h)
	all["tracestate"] = "vendor=1"
	all["Source"] = "NOT AN ID" // keys are exact
	all[""] = ""
	got, err := schemas.ParseHeaders(sequence(all))
	if diff := cmp.Diff(h, got); err != nil || diff != "" {
		t.Errorf("error %v, headers (-want +got):\n%s", err, diff)
	}
}

func TestParseHeadersTakesTheLastOfEqualKeys(t *testing.T) {
	t.Parallel()
	got, err := schemas.ParseHeaders(func(yield func(string, []byte) bool) {
		_ = yield("attempt", []byte("1")) && yield("attempt", []byte("2"))
	})
	if err != nil || got.Attempt != 2 {
		t.Errorf("attempt %d, error %v, want 2", got.Attempt, err)
	}
}

func TestHeadersCutDetailBetweenRunes(t *testing.T) {
	t.Parallel()
	const limit = schemas.MaxDetailBytes
	for name, c := range map[string]struct {
		detail string
		want   int
	}{
		"as long as allowed":     {strings.Repeat("d", limit), limit},
		"one byte more":          {strings.Repeat("d", limit+1), limit},
		"a rune over the edge":   {strings.Repeat("d", limit-1) + "🛶", limit - 1},
		"a rune up to the edge":  {strings.Repeat("d", limit-4) + "🛶d", limit},
		"two-byte runes":         {"d" + strings.Repeat("é", limit), limit - 1},
		"four-byte runes":        {"ddd" + strings.Repeat("🛶", limit), limit - 1},
		"continuation bytes all": {strings.Repeat("\x80", 2*limit), limit - 3},
	} {
		h := schemas.Headers{Detail: c.detail}
		got := collect(&h)["detail"]
		if len(got) != c.want || !strings.HasPrefix(c.detail, got) || utf8.ValidString(got) != utf8.ValidString(c.detail) {
			t.Errorf("%s: %d bytes %q, want the first %d", name, len(got), got, c.want)
		}
	}
}

// Values outlive both the headers they came from and each other.
func TestHeadersValuesAreTheirOwn(t *testing.T) {
	t.Parallel()
	h := ingested()
	var kept [][]byte
	for _, value := range h.All() {
		kept = append(kept, value)
	}
	copy(h.Integrations, "XXXX")
	for i := range kept {
		kept[i] = append(kept[i], "overrun"...)
	}
	if got, want := string(kept[3]), `{"All":false,"Webhooks":true}overrun`; got != want {
		t.Errorf("value is %s, want %s", got, want)
	}
}

func TestHeadersAllStopsWhenTold(t *testing.T) {
	t.Parallel()
	h := buried()
	full := len(collect(&h))
	for stop := 1; stop <= full; stop++ {
		seen := 0
		for range h.All() {
			if seen++; seen == stop {
				break
			}
		}
		if seen != stop {
			t.Errorf("%d pairs after a break at %d", seen, stop)
		}
	}
}

func TestPosition(t *testing.T) {
	t.Parallel()
	if got := (schemas.Position{Topic: "raw-events", Partition: 3, Offset: 17}).String(); got != "raw-events[3]@17" {
		t.Errorf("String() = %s", got)
	}
}

// A record of a later release is told from a broken one, whatever else its
// headers hold and in whatever order, and can still be named.
func TestParseHeadersTellsALaterVersion(t *testing.T) {
	t.Parallel()
	for name, pairs := range map[string][][2]string{
		"first":                  {{"version", "3"}, {"message-id", "m"}},
		"last":                   {{"message-id", "m"}, {"version", "3"}},
		"with a header misread":  {{"attempt", "none"}, {"message-id", "m"}, {"version", "3"}, {"due", "soon"}},
		"with half of a place":   {{"version", "3"}, {"from-offset", "1"}, {"message-id", "m"}},
		"beside an earlier one":  {{"version", "3"}, {"version", "1"}, {"message-id", "m"}},
		"with a key of its time": {{"version", "3"}, {"tenant", "t"}, {"message-id", "m"}},
	} {
		h, err := schemas.ParseHeaders(func(yield func(string, []byte) bool) {
			for _, pair := range pairs {
				if !yield(pair[0], []byte(pair[1])) {
					return
				}
			}
		})
		var later *schemas.VersionError
		if !errors.As(err, &later) || later.Version != 3 || h.Version != 3 || h.MessageID != "m" {
			t.Errorf("%s: error %v, headers %+v, want version 3 of message m", name, err, h)
		}
	}
}

// The first version costs no byte, and a later one is passed on as it is.
func TestHeadersVersionOnTheWire(t *testing.T) {
	t.Parallel()
	for version, want := range map[int]string{0: "", 1: "", 2: "2"} {
		h := schemas.Headers{Version: version}
		if got := collect(&h)["version"]; got != want {
			t.Errorf("version %d is sent as %q, want %q", version, got, want)
		}
	}
	got, err := schemas.ParseHeaders(sequence(map[string]string{"version": "1"}))
	if err != nil || got.Version != 0 {
		t.Errorf("version 1: %+v, %v, want the same as none", got, err)
	}
	later := schemas.VersionError{Version: 7}
	if text := later.Error(); !strings.Contains(text, "version 7") || !strings.Contains(text, "up to 2") {
		t.Errorf("Error() = %s", text)
	}
}

// Trace contexts that are none are passed over: they never cost an event.
func TestParseHeadersTakesOrLeavesATraceParent(t *testing.T) {
	t.Parallel()
	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for value, want := range map[string]string{
		good:                               good,
		good[:53] + "00":                   good[:53] + "00", // not sampled
		"":                                 "",
		good + "-":                         "",
		good[:54]:                          "",
		strings.ToUpper(good):              "",
		"01" + good[2:]:                    "",
		"ff" + good[2:]:                    "",
		strings.Replace(good, "-", "_", 1): "",
		good[:2] + "_" + good[3:]:          "",
		good[:35] + "0" + good[36:]:        "",
		good[:52] + "0" + good[53:]:        "",
		good[:53] + "0g":                   "",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": "",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01": "",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b/-01": "",
	} {
		got, err := schemas.ParseHeaders(sequence(map[string]string{"traceparent": value}))
		if err != nil || got.TraceParent != want {
			t.Errorf("%q: %q and error %v, want %q and none", value, got.TraceParent, err, want)
		}
	}
}
