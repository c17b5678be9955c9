package work

import (
	"testing"

	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

func TestEveryEndingHasAWord(t *testing.T) {
	t.Parallel()
	words := make(map[string]int)
	for e := schedule.Delivered; e <= schedule.Unfinished; e++ {
		words[ending(e)]++
	}
	for word, n := range map[string]int{"delivered": 1, "retried": 3, "dead": 1, "unfinished": 1} {
		if words[word] != n {
			t.Errorf("%d endings are %q, want %d", words[word], word, n)
		}
	}
}

func TestNothingIsSaidOfNoSpan(t *testing.T) {
	f, o := schedule.Fate{Ending: schedule.Delivered}, outcome.Outcome{Verdict: outcome.Delivered}
	if n := testing.AllocsPerRun(10, func() { describe(trace.Span{}, f, o) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
