package workspace_test

import (
	"strconv"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
)

// large is a workspace of n sources, each with a destination of its own.
func large(n int) *workspace.Snapshot {
	var sources []workspace.Source
	var destinations []workspace.Destination
	for i := range n {
		source := "s" + strconv.Itoa(i)
		sources = append(sources, workspace.Source{ID: source, WriteKeyHash: workspace.HashWriteKey("wk_" + strconv.Itoa(i)), Enabled: true})
		destinations = append(destinations, workspace.Destination{ID: "d" + strconv.Itoa(i), Sources: []string{source}, Enabled: true})
	}
	return workspace.NewSnapshot(sources, destinations)
}

func BenchmarkSourceByKey(b *testing.B) {
	s := large(1000)
	for name, key := range map[string]string{"known": "wk_500", "unknown": "wk_none"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.SourceByKey(key)
			}
		})
	}
}

func BenchmarkListeners(b *testing.B) {
	s := large(1000)
	b.ReportAllocs()
	for b.Loop() {
		s.Listeners("s500")
	}
}
