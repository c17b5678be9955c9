package wsfile

import (
	"fmt"
	"strings"
	"testing"
)

// large is a workspace file of n sources, each with a destination of its own.
func large(n int) string {
	var sources, destinations strings.Builder
	for i := range n {
		fmt.Fprintf(&sources, "  - {id: s%d, writeKey: wk_%d}\n", i, i)
		fmt.Fprintf(&destinations, "  - {id: d%d, type: webhooks, sources: [s%d], endpoints: [{url: 'https://h%d.example.com/', headers: {X-A: b}}]}\n", i, i, i)
	}
	return "sources:\n" + sources.String() + "destinations:\n" + destinations.String()
}

func BenchmarkParse(b *testing.B) {
	text := []byte(large(1000))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("workspace.yaml", text, Lookup{}); err != nil {
			b.Fatal(err)
		}
	}
}
