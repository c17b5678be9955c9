package clientfaults

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/report"
)

func TestJudgeClients(t *testing.T) {
	t.Parallel()
	const steady, hasty = "steady", "hasty"
	type call struct {
		producer string
		n        int
	}
	cases := map[string]struct {
		sent, arrived []call
		want          []string
	}{
		"sent twice, arrived twice": {
			sent:    []call{{steady, 0}, {steady, 0}, {steady, 1}},
			arrived: []call{{steady, 0}, {steady, 0}, {steady, 1}},
		},
		"out of order where the client is": {
			sent:    []call{{hasty, 0}, {hasty, 1}, {hasty, 0}},
			arrived: []call{{hasty, 1}, {hasty, 0}},
		},
		"out of order where it is not": {
			sent:    []call{{steady, 0}, {steady, 0}, {steady, 1}},
			arrived: []call{{steady, 1}, {steady, 0}},
			want:    []string{"1 calls overtook an older one of the same user"},
		},
		"arrived more often than sent": {
			sent:    []call{{steady, 0}, {steady, 0}},
			arrived: []call{{steady, 0}, {steady, 0}, {steady, 0}},
			want:    []string{"1 arrivals that no client had sent"},
		},
		"the faults hit nobody": {
			sent:    []call{{steady, 0}},
			arrived: []call{{steady, 0}},
			want:    []string{"no request was cut off by a kill"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := books.New("run")
			stamp := func(c call) books.Stamp { return books.Stamp{Run: "run", Producer: c.producer, Sequence: c.n} }
			for _, s := range c.sent {
				b.Offered(stamp(s))
				b.Promised(stamp(s))
			}
			for _, a := range c.arrived {
				b.Arrived(stamp(a), time.Now(), func(int) bool { return true })
			}
			var r report.Result
			judgeClients(&r, b, func(producer string) bool { return producer == steady })
			if diff := cmp.Diff(c.want, r.Broken); diff != "" {
				t.Errorf("broken bounds (-want +got):\n%s", diff)
			}
		})
	}
}
