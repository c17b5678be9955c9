package schemas_test

import (
	"testing"

	"github.com/anabranch/anabranch/schemas"
)

// Decoding must not be the stage's largest source of garbage: one allocation
// per text, none for words, numbers and times; encoding costs its one buffer.
func TestHeadersAllocations(t *testing.T) {
	h := ingested()
	type pair struct {
		key   string
		value []byte
	}
	var pairs []pair
	for key, value := range h.All() {
		pairs = append(pairs, pair{key, value})
	}
	if got := testing.AllocsPerRun(100, func() {
		total := 0
		for _, value := range h.All() {
			total += len(value)
		}
		if total == 0 {
			t.Error("nothing encoded")
		}
	}); got > 1 {
		t.Errorf("encode: %v allocations, want 1", got)
	}
	if got := testing.AllocsPerRun(100, func() {
		if _, err := schemas.ParseHeaders(func(yield func(string, []byte) bool) {
			for _, p := range pairs {
				if !yield(p.key, p.value) {
					return
				}
			}
		}); err != nil {
			t.Error(err)
		}
	}); got > 2 {
		t.Errorf("decode: %v allocations, want 2", got)
	}
}

func BenchmarkHeadersEncode(b *testing.B) {
	for name, h := range map[string]schemas.Headers{"ingested": ingested(), "buried": buried()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for key, value := range h.All() {
					if key == "" || len(value) == 0 {
						b.Fatal("empty pair")
					}
				}
			}
		})
	}
}

func BenchmarkParseHeaders(b *testing.B) {
	for name, h := range map[string]schemas.Headers{"ingested": ingested(), "buried": buried()} {
		b.Run(name, func(b *testing.B) {
			var keys []string
			var values [][]byte
			for key, value := range h.All() {
				keys, values = append(keys, key), append(values, value)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := schemas.ParseHeaders(func(yield func(string, []byte) bool) {
					for i, key := range keys {
						if !yield(key, values[i]) {
							return
						}
					}
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
