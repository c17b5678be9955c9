package body

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// parsed is isInstant by the standard library.
func parsed(value string) bool {
	const quoted = `"` + schemas.TimeLayout + `"`
	at, err := time.Parse(quoted, value)
	return err == nil && at.Format(quoted) == value
}

func TestInstants(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	seen := make(map[bool]int)
	for range 200_000 {
		// Every field now and then beyond its range.
		value := fmt.Sprintf(`"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ"`, random.IntN(10_000), random.IntN(14), random.IntN(33),
			random.IntN(25), random.IntN(61), random.IntN(61), random.IntN(1000))
		if random.IntN(4) == 0 {
			at := random.IntN(len(value))
			value = value[:at] + string(rune(' '+random.IntN(95))) + value[at+1:]
		}
		got := isInstant([]byte(value))
		if want := parsed(value); got != want {
			t.Fatalf("isInstant(%s) = %t, expected %t", value, got, want)
		}
		seen[got]++
	}
	if seen[true] < 10_000 || seen[false] < 10_000 {
		t.Errorf("%v: nothing was shown", seen)
	}
	for _, value := range []string{"", `"`, "null", `"2026-01-01T00:00:00Z"`, `"2026-01-01T00:00:00.000Z" `} {
		if isInstant([]byte(value)) {
			t.Errorf("isInstant(%s)", value)
		}
	}
}
