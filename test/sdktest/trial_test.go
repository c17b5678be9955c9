package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/test/sdktest/books"
	"github.com/anabranch/anabranch/test/sdktest/driver"
	"github.com/anabranch/anabranch/test/sdktest/front"
	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

// A trial's name is an id of the workspace, of which there must not be two.
func TestRunsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	id := regexp.MustCompile(`^[a-z0-9-]{1,60}$`)
	for _, d := range drivers() {
		for _, r := range d.Runs {
			name := (&trial{driver: &d, run: r}).source()
			if seen[name] || !id.MatchString(name) {
				t.Errorf("%q: another run has the name, or a source cannot have it", name)
			}
			seen[name] = true
		}
	}
}

// The page says what there is; it is written by hand.
func TestThePageNamesEverySDK(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range drivers() {
		about, _, _ := strings.Cut(d.About, " in Chromium")
		name, version, _ := strings.Cut(about, " ")
		if row := fmt.Sprintf("| `%s` | `%s` %s", d.Name, name, version); !strings.Contains(string(text), row) {
			t.Errorf("no row begins with %q", row)
		}
	}
}

func TestChoose(t *testing.T) {
	all, err := choose("")
	if err != nil || len(all) != len(drivers()) {
		t.Errorf("no name chooses %d, %v", len(all), err)
	}
	some, err := choose("go3,node")
	if err != nil || len(some) != 2 || some[0].Name != "go3" || some[1].Name != "node" {
		t.Errorf("two names choose %v, %v", some, err)
	}
	if _, err := choose("go3,cobol"); err == nil || !strings.Contains(err.Error(), `no SDK "cobol"`) {
		t.Errorf("an unknown name: %v", err)
	}
}

func zip(tb testing.TB, text string) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// ended is a trial of a single call, which its integrations map filters: nothing
// is delivered, and all was well if it was sent.
func ended(tb testing.TB) *trial {
	tb.Helper()
	return &trial{
		driver: &driver.Driver{Name: "fake"}, run: driver.Run{Mode: driver.Batch, Gzip: true, Faults: every[:1]},
		calls:    []scenario.Call{{Mark: "one", Type: "track", Filtered: true}},
		requests: []front.Request{{Method: http.MethodOptions}, {Method: http.MethodPost, Body: zip(tb, `{"call":"one"}`)}},
		injected: every[:1], began: time.Now(), ended: time.Now(),
	}
}

func TestATrialIsJudgedByMoreThanItsDeliveries(t *testing.T) {
	b := books.Open("")
	defer b.Close()
	for name, c := range map[string]struct {
		alter func(*trial)
		want  string // "" for nothing
	}{
		"well":                {func(*trial) {}, ""},
		"not installed":       {func(t *trial) { t.err, t.began = errors.New("no npm"), time.Time{} }, "no npm"},
		"a program failed":    {func(t *trial) { t.err = errors.New("exit status 1") }, "exit status 1"},
		"a fault met nothing": {func(t *trial) { t.left = 1 }, "1 of 1 faults met no request"},
		"not compressed":      {func(t *trial) { t.requests[1].Body = []byte(`{"call":"one"}`) }, "compressed is false, expected true"},
		"compressed":          {func(t *trial) { t.run.Gzip = false }, "compressed is true, expected false"},
		"never sent":          {func(t *trial) { t.calls[0].Mark = "two" }, "two: not sent"},
		"a torn request":      {func(t *trial) { t.requests = append(t.requests, front.Request{Body: []byte{0x1f, 0x8b}}) }, "inflate request"},
		"not delivered":       {func(t *trial) { t.calls = append(t.calls, scenario.Call{Mark: "two"}) }, "two: delivered 0 times"},
	} {
		t.Run(name, func(t *testing.T) {
			trial := ended(t)
			c.alter(trial)
			wrong := trial.judge(b)
			if c.want == "" && len(wrong) > 0 || c.want != "" && (len(wrong) == 0 || !strings.Contains(wrong[0], c.want)) {
				t.Errorf("wrong: %q, expected %q", wrong, c.want)
			}
		})
	}
}

func TestALineSaysWhatHappened(t *testing.T) {
	trial := ended(t)
	for wrong, want := range map[string]string{"": "ok", "x": "FAILED"} {
		line := trial.line(strings.Fields(wrong))
		for _, part := range []string{want, "fake/batch-gzip", "1 calls", "1 requests", "injected: 503"} {
			if !strings.Contains(line, part) {
				t.Errorf("line %q without %q", line, part)
			}
		}
	}
	trial.injected = nil
	if line := trial.line(nil); !strings.Contains(line, "injected: none") {
		t.Errorf("line %q", line)
	}
}

func TestALongListIsShortened(t *testing.T) {
	long := strings.Fields(strings.Repeat("wrong ", 300))
	if got := shorten(long); len(got) != 13 || got[12] != "and 288 more" {
		t.Errorf("%d lines, the last %q", len(got), got[len(got)-1])
	}
	if got := shorten(long[:12]); len(got) != 12 {
		t.Errorf("%d lines of 12", len(got))
	}
}
