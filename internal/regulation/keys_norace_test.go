//go:build !race

package regulation

import "testing"

// TestALookUpByKeysAllocatesNothing: under the race detector a pool forgets at random.
func TestALookUpByKeysAllocatesNothing(t *testing.T) {
	g := NewRegister(keysOf(t, "12"), nil)
	g.Suppressed.set(alias{g.keys.IDs()[0], userHash{}}, true)
	g.Suppressed.set(alias{g.keys.IDs()[1], userHash{}}, true)
	id := []byte("somebody else")
	if n := testing.AllocsPerRun(1000, func() { g.Suppressed.Has(id) }); n >= 1 {
		t.Errorf("a look-up allocates %v times", n)
	}
}
