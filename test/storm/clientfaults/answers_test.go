package clientfaults

import (
	"testing"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/load"
)

func TestJudgeOutage(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	away := books.Span{From: begin, To: begin.Add(10 * time.Second)}
	call := func(at, took time.Duration, status int, retryAfter string) load.Answer {
		return load.Answer{At: begin.Add(at), Took: took, Status: status, RetryAfter: retryAfter}
	}
	got := judgeOutage([]load.Answer{
		call(-time.Second, time.Millisecond, 503, "1"), // before: says nothing
		call(-time.Second, time.Millisecond, 200, ""),
		call(time.Second, 500*time.Millisecond, 503, "1"),
		call(3*time.Second, 20*time.Millisecond, 503, "2"),
		call(4*time.Second, 30*time.Millisecond, 503, ""), // does not say when to come back
		call(5*time.Second, 0, 0, ""),
		call(9*time.Second, 3*time.Second, 200, ""),
		call(11*time.Second, time.Millisecond, 200, ""),
	}, away)
	want := outage{firstRefusal: 1500 * time.Millisecond, slowest: 3 * time.Second, odd: 2, recovered: 1001 * time.Millisecond}
	if got != want {
		t.Errorf("judgeOutage: %+v, expected %+v", got, want)
	}
	none := judgeOutage([]load.Answer{call(time.Second, time.Millisecond, 500, "1")}, away)
	if none.firstRefusal >= 0 || none.recovered >= 0 || none.odd != 1 {
		t.Errorf("judgeOutage without refusal and recovery: %+v", none)
	}
}
