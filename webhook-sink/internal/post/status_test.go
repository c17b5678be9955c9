package post

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

func TestStatusRules(t *testing.T) {
	tests := []struct {
		from, to int
		verdict  outcome.Verdict
		reason   schemas.Reason
	}{
		{-1, 199, outcome.Retry, schemas.ReasonNetwork},
		{200, 299, outcome.Delivered, ""},
		{300, 399, outcome.Dead, schemas.ReasonStatus3xx},
		{400, 407, outcome.Dead, schemas.ReasonStatus4xx},
		{408, 408, outcome.Retry, schemas.ReasonStatus4xx},
		{409, 424, outcome.Dead, schemas.ReasonStatus4xx},
		{425, 425, outcome.Retry, schemas.ReasonStatus4xx},
		{426, 428, outcome.Dead, schemas.ReasonStatus4xx},
		{429, 429, outcome.Retry, schemas.ReasonStatus4xx},
		{430, 499, outcome.Dead, schemas.ReasonStatus4xx},
		{500, 599, outcome.Retry, schemas.ReasonStatus5xx},
		{600, 1000, outcome.Retry, schemas.ReasonNetwork},
	}
	next := -1
	for _, test := range tests {
		if test.from != next {
			t.Fatalf("no rule tested for %d to %d", next, test.from-1)
		}
		next = test.to + 1
		for status := test.from; status <= test.to; status++ {
			verdict, reason := ofStatus(status)
			if verdict != test.verdict || reason != test.reason {
				t.Errorf("status %d: %d %q, want %d %q", status, verdict, reason, test.verdict, test.reason)
			}
		}
	}
}

func TestResponses(t *testing.T) {
	tests := []struct {
		status int
		want   outcome.Outcome
	}{
		{204, outcome.Outcome{Verdict: outcome.Delivered}},
		{302, outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonStatus3xx, Detail: "endpoint answered 302; redirects are not followed"}},
		{404, outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonStatus4xx, Detail: "endpoint answered 404"}},
		{429, outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonStatus4xx, Detail: "endpoint answered 429", RetryAfter: 7 * time.Second}},
		{503, outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonStatus5xx, Detail: "endpoint answered 503", RetryAfter: 7 * time.Second}},
		{101, outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonNetwork, Detail: detailNetwork, Cause: "not an answer to a POST: 101"}},
	}
	for _, test := range tests {
		if got := ofResponse(test.status, "7", time.Now()); !cmp.Equal(got, test.want) {
			t.Errorf("status %d: %+v, want %+v", test.status, got, test.want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 1, 4, 29, 0, time.UTC)
	tests := []struct {
		value string
		want  time.Duration
	}{
		{"120", 2 * time.Minute},
		{"  120\t", 2 * time.Minute},
		{"0", 0},
		{"007", 7 * time.Second},
		{"86400", 24 * time.Hour},
		{"86401", 24 * time.Hour},
		{"9223372036854775808", 24 * time.Hour},
		{strings.Repeat("9", 60_000), 24 * time.Hour},
		{"Sat, 21 Nov 2026 01:05:29 GMT", time.Minute},
		{"Saturday, 21-Nov-26 01:05:29 GMT", time.Minute},
		{"Sat Nov 21 01:05:29 2026", time.Minute},
		{"Sat, 21 Nov 2026 01:04:29 GMT", 0}, // now
		{"Sat, 21 Nov 2020 01:05:29 GMT", 0}, // past
		{"Fri, 31 Dec 9999 23:59:59 GMT", 24 * time.Hour},
		{"", 0},
		{"-5", 0},
		{"+5", 0},
		{"1.5", 0},
		{"5s", 0},
		{"1e3", 0},
		{"5, 6", 0},
		{"١٢", 0},
		{"2026-11-21T01:05:29Z", 0},
		{"soon", 0},
	}
	for _, test := range tests {
		if got := parseRetryAfter(test.value, now); got != test.want {
			t.Errorf("%.40q: %s, want %s", test.value, got, test.want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"120", "0", "-1", "99999999999999999999", "Sat, 21 Nov 2026 01:05:29 GMT", "x", ""} {
		f.Add(seed, int64(1_795_223_069))
	}
	f.Fuzz(func(t *testing.T, value string, unix int64) {
		now := time.Unix(unix%(1<<40), 0)
		got := parseRetryAfter(value, now)
		if got < 0 || got > maxRetryAfter {
			t.Fatalf("%q: %s", value, got)
		}
		if got%time.Second != 0 {
			t.Errorf("%q: %s, finer than the header can say", value, got)
		}
		_, dateErr := http.ParseTime(strings.TrimSpace(value))
		digits := strings.Trim(strings.TrimSpace(value), "0123456789") == ""
		if got > 0 && dateErr != nil && !digits {
			t.Errorf("%q: %s, although neither digits nor a date", value, got)
		}
		if again := parseRetryAfter(" "+value+" ", now); again != got {
			t.Errorf("%q: %s, with space around it %s", value, got, again)
		}
	})
}
