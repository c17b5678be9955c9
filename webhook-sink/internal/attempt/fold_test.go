package attempt

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// kindsOfResult are calls of one endpoint that fold may tell apart.
var kindsOfResult = []outcome.Outcome{
	{Verdict: outcome.Delivered},
	{Verdict: outcome.Abandoned},
	{Verdict: outcome.Retry, Reason: schemas.ReasonTimeout, Detail: "no response in time"},
	{Verdict: outcome.Retry, Reason: schemas.ReasonStatus5xx, Detail: "endpoint answered 503", RetryAfter: time.Minute},
	{Verdict: outcome.Dead, Reason: schemas.ReasonStatus4xx, Detail: "endpoint answered 404"},
	{Verdict: outcome.Dead, Reason: schemas.ReasonSelfSigned, Detail: "certificate is self-signed"},
}

// everyAttempt calls check with all combinations of calls at up to five
// endpoints.
func everyAttempt(check func([]call)) {
	var extend func(calls []call)
	extend = func(calls []call) {
		check(calls)
		if len(calls) == 5 {
			return
		}
		for _, kind := range kindsOfResult {
			at := len(calls) + 1
			kind.RetryAfter *= time.Duration(at) // tells the endpoints apart
			extend(append(slices.Clone(calls), call{endpoint: &endpoint{fingerprint: uint64(at), position: at, of: 5}, outcome: kind}))
		}
	}
	extend(nil)
}

func TestFoldOfAllAttempts(t *testing.T) {
	seen := make(map[outcome.Verdict]int)
	everyAttempt(func(calls []call) {
		got := fold(calls)
		seen[got.Verdict]++
		if problem := misfold(calls, got); problem != "" {
			t.Fatalf("%s\nof %+v\ngot %+v", problem, calls, got)
		}
	})
	for _, v := range []outcome.Verdict{outcome.Delivered, outcome.Retry, outcome.Dead, outcome.Abandoned} {
		if seen[v] == 0 {
			t.Errorf("no attempt with verdict %d", v)
		}
	}
}

// misfold says what is wrong with an outcome, going by the rules one at a time.
func misfold(calls []call, got outcome.Outcome) string {
	with := func(v outcome.Verdict) []call {
		return slices.DeleteFunc(slices.Clone(calls), func(c call) bool { return c.outcome.Verdict != v })
	}
	again := with(outcome.Retry)
	switch {
	case len(with(outcome.Delivered)) > 0:
		return differs(outcome.Outcome{Verdict: outcome.Delivered}, got)
	case len(with(outcome.Abandoned)) > 0:
		return differs(outcome.Outcome{Verdict: outcome.Abandoned}, got)
	case len(again) > 0:
		want := outcome.Outcome{Verdict: outcome.Retry, Reason: again[0].outcome.Reason, Detail: again[0].detail()}
		for _, r := range again {
			want.Endpoints = append(want.Endpoints, r.endpoint.fingerprint)
			if r.outcome.RetryAfter > want.RetryAfter {
				want.RetryAfter = r.outcome.RetryAfter
			}
		}
		return differs(want, got)
	case len(calls) > 0:
		return differs(outcome.Outcome{Verdict: outcome.Dead, Reason: calls[0].outcome.Reason, Detail: calls[0].detail()}, got)
	default:
		return differs(outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonDestinationRemoved, Detail: "destination has no endpoints"}, got)
	}
}

func differs(want, got outcome.Outcome) string {
	got.Asked = 0 // TestWhoWasAsked
	return cmp.Diff(want, got, cmp.AllowUnexported(outcome.Outcome{}))
}

func TestDetailSaysWhichEndpointWhereThereIsAChoice(t *testing.T) {
	r := call{outcome: outcome.Outcome{Detail: "endpoint answered 404"}, endpoint: &endpoint{position: 1, of: 1}}
	if got := r.detail(); got != "endpoint answered 404" {
		t.Errorf("one endpoint: %q", got)
	}
	r.endpoint.position, r.endpoint.of = 2, 3
	if got := r.detail(); got != "endpoint 2 of 3: endpoint answered 404" {
		t.Errorf("three endpoints: %q", got)
	}
}

func TestDetailFitsTheHeader(t *testing.T) {
	const limit = 256 // bytes, of the record header
	everyAttempt(func(calls []call) {
		if got := fold(calls); len(got.Detail) > limit {
			t.Errorf("detail of %d bytes", len(got.Detail))
		}
	})
}
