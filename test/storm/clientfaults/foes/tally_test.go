package foes

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func slowKind() *kind { return &kind{name: "slow", count: 2, bound: 5 * time.Second} }

func fastKind() *kind {
	return &kind{name: "fast", count: 2, perSecond: 5, answers: []int{401, 429}}
}

func TestTallyCounts(t *testing.T) {
	t.Parallel()
	k := fastKind()
	got := newTally(k)
	got.add(k, outcome{status: 401, lasted: time.Second}, false)
	got.add(k, outcome{status: 429}, false)
	got.add(k, outcome{status: 503}, false) // of no use: it was not looked at
	got.add(k, outcome{refused: true}, false)
	got.add(k, outcome{cut: true}, true) // at the end: says nothing
	want := Tally{Kind: "fast", Tries: 4, Hits: 2, Aim: 10, Refused: 1, Longest: time.Second, Answers: map[int]int{401: 1, 429: 1, 503: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tally (-want +got):\n%s", diff)
	}
}

func TestSlowOnesHitWhenTheyAreEndedAtTheBound(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		o    outcome
		want bool
	}{
		"ended at the bound":       {outcome{cut: true, lasted: 5 * time.Second}, true},
		"turned away at once":      {outcome{cut: true, lasted: time.Second}, false},
		"never ended":              {outcome{lasted: time.Minute}, false},
		"answered, then ended":     {outcome{cut: true, status: 408, lasted: 5 * time.Second}, true},
		"not taken":                {outcome{refused: true}, false},
		"an answer that came soon": {outcome{cut: true, status: 408, lasted: time.Second}, false},
	}
	for name, c := range cases {
		if got := slowKind().hit(c.o); got != c.want {
			t.Errorf("%s: hit is %t, expected %t", name, got, c.want)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	fast := func(hits int, answers map[int]int) Tally {
		return Tally{Kind: "fast", Hits: hits, Aim: 10, Answers: answers}
	}
	slow := func(hits int, longest time.Duration) Tally {
		return Tally{Kind: "slow", Hits: hits, Longest: longest, Bound: 5 * time.Second}
	}
	cases := map[string]struct {
		tally Tally
		want  []string
	}{
		"half of what was aimed at":  {fast(50, nil), nil},
		"less":                       {fast(49, map[int]int{503: 1}), []string{"fast: 49 hits instead of at least 50; answers map[503:1], refused 0"}},
		"an acceptance":              {fast(50, map[int]int{200: 3}), []string{"fast: 3 answers with status 200"}},
		"ended in time":              {slow(1, 6*time.Second), nil},
		"not ended in time":          {slow(1, 8*time.Second), []string{"slow: a connection lasted 8s instead of at most 5s"}},
		"nobody was let in for long": {slow(0, time.Second), []string{"slow: no connection was held up to the bound of 5s"}},
	}
	for name, c := range cases {
		if diff := cmp.Diff(c.want, c.tally.Judge(10*time.Second)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	short := slow(0, 3*time.Second)
	if got := short.Judge(3 * time.Second); got != nil {
		t.Errorf("an attack shorter than the bound: %v, expected nothing", got)
	}
}

func TestStatusOf(t *testing.T) {
	t.Parallel()
	for begin, want := range map[string]int{
		"HTTP/1.1 431 Request Header Fields Too Large\r\n": 431,
		"HTTP/1.0 400 ": 400, "HTTP/1.1 40": 0, "HTTP/1.1": 0, "SSH-2.0-x 200 ": 0, "HTTP/1.1 abc": 0, "": 0,
	} {
		if got := statusOf([]byte(begin)); got != want {
			t.Errorf("statusOf(%q) is %d, expected %d", begin, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	want := []Tally{{Kind: "slow", Hits: 3, Longest: time.Second, Answers: map[int]int{400: 2}}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(append([]byte("something on stderr\n"), append(text, '\n')...))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tallies (-want +got):\n%s", diff)
	}
	if all, err := Parse([]byte("killed\n")); err == nil {
		t.Errorf("Parse of something else: %v", all)
	}
}

func TestRunRefusesOtherArguments(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{nil, {"127.0.0.1:1", "wk"}, {"127.0.0.1:1", "wk", "many"}} {
		var out bytes.Buffer
		if err := Run(ctx, args, &out); err == nil {
			t.Errorf("Run of %v passed", args)
		}
	}
}
