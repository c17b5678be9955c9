package batch

import (
	"testing"

	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/upload"
)

func TestDivide(t *testing.T) {
	failing := func(status int) upload.Answer { return upload.Answer{Err: &upload.Refusal{Status: status}} }
	late, asked := upload.Answer{TimedOut: true}, failing(503)
	asked.After = 1
	for name, c := range map[string]struct {
		batch  Batch
		answer upload.Answer
		likely bool
		want   bool
	}{
		"too large":                    {Batch{}, failing(413), false, true},
		"failed often, others did not": {Batch{Failures: patience}, failing(500), true, true},
		"failed often, so did others":  {Batch{Failures: 100}, failing(500), false, false},
		"failed seldom":                {Batch{Failures: patience - 1}, failing(500), true, false},
		"part of one that failed":      {Batch{Failures: 1, Suspect: true}, failing(500), true, true},
		"the server has asked to wait": {Batch{Failures: 100}, asked, true, false},
		"too many requests":            {Batch{Failures: 100}, failing(429), true, false},
		"no connection":                {Batch{Failures: 100}, upload.Answer{}, true, false},
		"the first without an answer":  {Batch{Timeouts: 1}, late, true, false},
		"the second without an answer": {Batch{Timeouts: 2}, late, false, true},
	} {
		c.batch.Messages = make([]*queue.Message, 2)
		if got := c.batch.Divide(c.answer, c.likely); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
		c.batch.Messages = c.batch.Messages[:1]
		if c.batch.Divide(c.answer, c.likely) {
			t.Errorf("%s: one message is divided", name)
		}
	}
}

func TestHalve(t *testing.T) {
	for n := 2; n < 9; n++ {
		messages := make([]*queue.Message, n)
		for i := range messages {
			messages[i] = &queue.Message{Seq: uint64(i)}
		}
		b := New(messages)
		id := b.ID
		b.Failures = 7
		rest := b.Halve()
		if len(b.Messages)+len(rest) != n || len(rest) != n/2 || b.Messages[0].Seq != 0 || rest[0].Seq != uint64(len(b.Messages)) || b.ID == id || b.Failures != 0 {
			t.Errorf("%d messages: %d and %d", n, len(b.Messages), len(rest))
		}
	}
}

func TestAllowance(t *testing.T) {
	a := NewAllowance(500_000)
	a.Shrink(400_000)
	if a.now != 200_000 {
		t.Errorf("%+v", a)
	}
	for range proof {
		a.Grow(90_000) // says nothing about larger ones
	}
	for range proof - 1 {
		a.Grow(190_000)
	}
	if a.now != 200_000 {
		t.Errorf("it grew too early: %+v", a)
	}
	if a.Grow(200_000); a.now != 400_000 {
		t.Errorf("it did not grow: %+v", a)
	}
	for range proof {
		a.Grow(400_000)
	}
	if a.now != a.most {
		t.Errorf("%+v", a)
	}
	for range 20 {
		a.Shrink(a.now)
	}
	if a.now != leastAllowance {
		t.Errorf("%+v", a)
	}
}
