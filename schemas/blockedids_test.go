package schemas_test

import (
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
)

func TestBlockedIDs(t *testing.T) {
	t.Parallel()
	usual, more := (*schemas.BlockedIDs)(nil), schemas.NewBlockedIDs([]string{"Guest", `"ÄNNCHEN"`, "unknown user"})
	for id, want := range map[string][2]bool{
		"null": {true, true}, "NULL": {true, true}, ` "null" `: {true, true}, `'Undefined'`: {true, true}, `"'nan'"`: {true, true},
		"None": {true, true}, "anonymous": {true, true}, "[object Object]": {true, true}, "true": {true, true}, "False": {true, true},
		"-1": {true, true}, "0": {true, true}, "000000": {true, true}, "00000000-0000-0000-0000-000000000000": {true, true},
		"": {true, true}, " \t\n": {true, true}, `""`: {true, true}, `"  "`: {true, true}, "\u00a0": {true, true},
		"guest": {false, true}, "GUEST": {false, true}, `"guest"`: {false, true}, "ännchen": {false, true}, "Unknown User": {false, true},
		"nullify": {}, "user-0": {}, "01": {}, "-": {}, "--": {}, "-2": {}, "1": {}, `"`: {}, `'null"`: {}, "[object Window]": {}, "trueness": {}, "n": {},
		"00000000-0000-0000-0000-000000000001": {}, "8d3f4a52-7c19-4b6e-9a51-0f2c6d7e8b90": {}, "guests": {}, "unknown": {},
		strings.Repeat("0", 100): {true, true}, strings.Repeat("0", 100) + "7": {},
	} {
		if got := [2]bool{usual.Blocks([]byte(id)), more.Blocks([]byte(id))}; got != want {
			t.Errorf("%q: got %v, want %v", id, got, want)
		}
	}
}

// FuzzBlockedIDs: what is around an id, and its case, make no difference; what is
// added to the list blocks no less.
func FuzzBlockedIDs(f *testing.F) {
	for _, seed := range []string{"null", `"0"`, " undefined", "user-7", "İ", "\xff"} {
		f.Add(seed)
	}
	usual, more := (*schemas.BlockedIDs)(nil), schemas.NewBlockedIDs([]string{"guest"})
	f.Fuzz(func(t *testing.T, id string) {
		blocks := usual.Blocks([]byte(id))
		for _, other := range []string{" " + id, id + "\n", `"` + id + `"`, "'" + id + "'"} {
			if usual.Blocks([]byte(other)) != blocks {
				t.Errorf("%q: %v, %q: %v", id, blocks, other, !blocks)
			}
		}
		if upper := strings.ToUpper(id); strings.ToLower(upper) == id && usual.Blocks([]byte(upper)) != blocks {
			t.Errorf("%q: %v, %q: %v", id, blocks, upper, !blocks)
		}
		if blocks && !more.Blocks([]byte(id)) {
			t.Errorf("%q is blocked by fewer only", id)
		}
		if itself := schemas.NewBlockedIDs([]string{id}); !itself.Blocks([]byte(id)) {
			t.Errorf("%q does not block itself", id)
		}
	})
}

func BenchmarkBlockedIDs(b *testing.B) {
	more, id := schemas.NewBlockedIDs([]string{"guest"}), []byte("8d3f4a52-7c19-4b6e-9a51-0f2c6d7e8b90")
	b.ReportAllocs()
	for b.Loop() {
		if more.Blocks(id) {
			b.Fatal("blocked")
		}
	}
}
