package pace

import (
	"testing"
	"time"
)

func TestBudget(t *testing.T) {
	t.Parallel()
	full := Full(2000)
	for name, c := range map[string]struct {
		left   Budget
		fanOut int
		want   int
	}{
		"nobody listens":                        {full, 0, 1000},
		"one destination":                       {full, 1, 1000},
		"what may be read is read":              {Budget{Read: 5, Written: budgetRecords, Bytes: budgetBytes}, 1, 5},
		"ten at a time for a hundred":           {full, 100, 10},
		"one at a time for ten thousand":        {full, 10_000, 1},
		"more destinations than the budget":     {full, 60_000, 0},
		"no record is left for all of them":     {Budget{Read: 100, Written: 299, Bytes: 1}, 300, 0},
		"the last that fits":                    {Budget{Read: 100, Written: 300, Bytes: 1}, 300, 1},
		"no bytes are left":                     {Budget{Read: 100, Written: 300, Bytes: 0}, 1, 0},
		"nothing may be read any more":          {Budget{Read: 0, Written: 300, Bytes: 1}, 1, 0},
		"a slow broker gets less":               {full.Halved(2), 1, 500},
		"the slowest still gets something":      {full.Halved(mostHalvings), 1, 1},
		"and of a wide event nothing beside it": {full.Halved(mostHalvings), 1000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.left.Next(c.fanOut); got != c.want {
				t.Errorf("%+v for %d destinations: next = %d, want %d", c.left, c.fanOut, got, c.want)
			}
		})
	}
}

func TestHalve(t *testing.T) {
	t.Parallel()
	const timeout = 16 * time.Second
	for _, c := range []struct {
		now, want int
		took      time.Duration
	}{
		{0, 0, time.Millisecond},
		{3, 2, time.Millisecond},
		{3, 3, 2 * time.Second},
		{0, 1, 5 * time.Second},
		{mostHalvings, mostHalvings, time.Minute},
	} {
		if got := Halve(c.now, c.took, timeout); got != c.want {
			t.Errorf("Halve(%d, %s) = %d, want %d", c.now, c.took, got, c.want)
		}
	}
}
