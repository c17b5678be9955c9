package books

import (
	"testing"
	"time"
)

func milliseconds(from, to int) []time.Duration {
	var all []time.Duration
	for i := to; i >= from; i-- {
		all = append(all, time.Duration(i)*time.Millisecond)
	}
	return all
}

func TestSummarize(t *testing.T) {
	cases := map[string]struct {
		latencies []time.Duration
		want      Phase
	}{
		"none": {nil, Phase{}},
		"one":  {milliseconds(7, 7), Phase{1, 7 * time.Millisecond, 7 * time.Millisecond, 7 * time.Millisecond}},
		"1 to 100, the youngest first": {
			milliseconds(1, 100), Phase{100, 50 * time.Millisecond, 99 * time.Millisecond, 100 * time.Millisecond},
		},
		"1 to 101: a rank is never rounded down": {
			milliseconds(1, 101), Phase{101, 51 * time.Millisecond, 100 * time.Millisecond, 101 * time.Millisecond},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Summarize(c.latencies); got != c.want {
				t.Errorf("Summarize: %v, expected %v", got, c.want)
			}
		})
	}
}

func TestMedian(t *testing.T) {
	phase := func(p50, p99, longest int) Phase {
		return Phase{10, time.Duration(p50), time.Duration(p99), time.Duration(longest)}
	}
	cases := map[string]struct {
		phases []Phase
		want   Phase
	}{
		"none":                        {nil, Phase{}},
		"one":                         {[]Phase{phase(1, 2, 3)}, phase(1, 2, 3)},
		"two: the middle":             {[]Phase{phase(1, 2, 3), phase(3, 6, 4)}, Phase{20, 2, 4, 4}},
		"a burst spoils one of three": {[]Phase{phase(1, 900, 990), phase(3, 5, 7), phase(2, 4, 8)}, Phase{30, 2, 5, 990}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Median(c.phases); got != c.want {
				t.Errorf("Median: %v, expected %v", got, c.want)
			}
		})
	}
}
