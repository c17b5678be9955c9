package attempt

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/post"
)

// kindsOfResult are results of one endpoint that fold may tell apart.
var kindsOfResult = []post.Result{
	{Verdict: post.Delivered},
	{Verdict: post.Abandoned},
	{Verdict: post.Retry, Reason: schemas.ReasonTimeout, Detail: "no response in time"},
	{Verdict: post.Retry, Reason: schemas.ReasonStatus5xx, Detail: "endpoint answered 503", RetryAfter: time.Minute},
	{Verdict: post.Dead, Reason: schemas.ReasonStatus4xx, Detail: "endpoint answered 404"},
	{Verdict: post.Dead, Reason: schemas.ReasonSelfSigned, Detail: "certificate is self-signed"},
}

// everyAttempt calls check with all combinations of results at up to five
// endpoints.
func everyAttempt(check func([]result)) {
	var extend func(results []result)
	extend = func(results []result) {
		check(results)
		if len(results) == 5 {
			return
		}
		for _, kind := range kindsOfResult {
			at := len(results) + 1
			kind.RetryAfter *= time.Duration(at) // tells the endpoints apart
			extend(append(slices.Clone(results), result{Result: kind, fingerprint: uint64(at), position: at, of: 5}))
		}
	}
	extend(nil)
}

func TestFoldOfAllAttempts(t *testing.T) {
	seen := make(map[Verdict]int)
	everyAttempt(func(results []result) {
		got := fold(results)
		seen[got.Verdict]++
		if problem := misfold(results, got); problem != "" {
			t.Fatalf("%s\nof %+v\ngot %+v", problem, results, got)
		}
	})
	for _, v := range []Verdict{Delivered, Retry, Dead, Abandoned} {
		if seen[v] == 0 {
			t.Errorf("no attempt with verdict %d", v)
		}
	}
}

// misfold says what is wrong with an outcome, going by the rules one at a time.
func misfold(results []result, got Outcome) string {
	with := func(v post.Verdict) []result {
		return slices.DeleteFunc(slices.Clone(results), func(r result) bool { return r.Verdict != v })
	}
	again := with(post.Retry)
	switch {
	case len(with(post.Delivered)) > 0:
		return differs(Outcome{Verdict: Delivered}, got)
	case len(with(post.Abandoned)) > 0:
		return differs(Outcome{Verdict: Abandoned}, got)
	case len(again) > 0:
		want := Outcome{Verdict: Retry, Reason: again[0].Reason, Detail: again[0].describe()}
		for _, r := range again {
			want.Endpoints = append(want.Endpoints, r.fingerprint)
			if r.RetryAfter > want.RetryAfter {
				want.RetryAfter = r.RetryAfter
			}
		}
		return differs(want, got)
	case len(results) > 0:
		return differs(Outcome{Verdict: Dead, Reason: results[0].Reason, Detail: results[0].describe()}, got)
	default:
		return differs(Outcome{Verdict: Dead, Reason: schemas.ReasonDestinationRemoved, Detail: "destination has no endpoints"}, got)
	}
}

func differs(want, got Outcome) string {
	return cmp.Diff(want, got, cmp.AllowUnexported(Outcome{}))
}

func TestDetailSaysWhichEndpointWhereThereIsAChoice(t *testing.T) {
	r := result{Result: post.Result{Detail: "endpoint answered 404"}, position: 1, of: 1}
	if got := r.describe(); got != "endpoint answered 404" {
		t.Errorf("one endpoint: %q", got)
	}
	r.position, r.of = 2, 3
	if got := r.describe(); got != "endpoint 2 of 3: endpoint answered 404" {
		t.Errorf("three endpoints: %q", got)
	}
}

func TestDetailFitsTheHeader(t *testing.T) {
	const limit = 256 // bytes, of the record header
	everyAttempt(func(results []result) {
		if got := fold(results); len(got.Detail) > limit {
			t.Errorf("detail of %d bytes", len(got.Detail))
		}
	})
}
