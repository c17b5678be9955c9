package timestamp

import "testing"

func TestFirstStampThatCanBeRead(t *testing.T) {
	day, other := []byte(`"2026-11-21"`), []byte(`"2026-11-22"`)
	bad, null := []byte(`"x"`), []byte(`null`)
	millis := func(value []byte) Stamp { m, _ := Parse(value); return Stamp{m, true} }
	for name, c := range map[string]struct {
		values     [][]byte
		want       Stamp
		unreadable int
	}{
		"none":                {nil, Stamp{}, 0},
		"absent":              {[][]byte{nil, {}}, Stamp{}, 0},
		"null":                {[][]byte{null, nil}, Stamp{}, 0},
		"the first":           {[][]byte{day, other}, millis(day), 0},
		"null, then one":      {[][]byte{null, other}, millis(other), 0},
		"unreadable, then":    {[][]byte{bad, other}, millis(other), 1},
		"unreadable":          {[][]byte{bad, nil}, Stamp{}, 1},
		"unreadable, both":    {[][]byte{bad, bad}, Stamp{}, 2},
		"the second is spare": {[][]byte{day, bad}, millis(day), 0},
	} {
		var r Reader
		if got := r.First(c.values...); got != c.want || r.Unreadable != c.unreadable {
			t.Errorf("%s: got %v with %d unreadable, want %v with %d", name, got, r.Unreadable, c.want, c.unreadable)
		}
	}
}
