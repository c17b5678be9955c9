package apply

import (
	"bytes"
	"strings"
	"testing"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		terminal bool
		want     string
	}{
		"a terminal": {true, "\rcreated 0 of 3,000 topics" + strings.Join([]string{
			"", "created 100 of 3,000 topics", "created 200 of 3,000 topics", "created 300 of 3,000 topics", "created 400 of 3,000 topics", "created 3,000 of 3,000 topics\n",
		}, "\r")},
		"a file": {false, "created 0 of 3,000 topics\ncreated 300 of 3,000 topics\ncreated 3,000 of 3,000 topics\n"},
	} {
		var out bytes.Buffer
		p := &progress{out: &out, terminal: c.terminal}
		if p.left() != "" {
			t.Errorf("%s: before there is any: %s", name, p.left())
		}
		for _, done := range []int{0, 100, 200, 300, 400} {
			p.tell(done, 3000)
		}
		if got := p.left(); !strings.Contains(got, "400 of 3,000 topics were created") || !strings.Contains(got, "run the same command again") {
			t.Errorf("%s: left: %s", name, got)
		}
		p.tell(3000, 3000)
		if out.String() != c.want || p.left() != "" {
			t.Errorf("%s: %q, want %q", name, out.String(), c.want)
		}
	}
}
