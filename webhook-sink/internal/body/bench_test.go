package body_test

import (
	"testing"

	"github.com/anabranch/anabranch/webhook-sink/internal/body"
)

func BenchmarkAppend(b *testing.B) {
	var builder body.Builder
	for _, g := range goldens(b) {
		if g.Name != "track" && g.Name != "identify_context_traits" {
			continue
		}
		b.Run(g.Name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(g.Event)))
			dst := make([]byte, 0, 4096)
			for b.Loop() {
				var err error
				if dst, err = builder.Append(dst[:0], g.Event); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
