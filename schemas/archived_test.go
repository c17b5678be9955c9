package schemas

import (
	"slices"
	"testing"
	"time"
)

func TestArchivedNames(t *testing.T) {
	t.Parallel()
	n := ArchivedName{Source: "website", Day: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC), Partition: 3, From: 12000, To: 13000}
	const want = "website/2026-11-23/3-00000000000000012000-00000000000000013000.ndjson.gz"
	if got := n.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, ok := ParseArchivedName("/srv/archive/" + want); !ok || got != n {
		t.Errorf("%+v, %t", got, ok)
	}
	n.From, n.To = 500, 1000
	if names := []string{want, n.String()}; slices.IsSorted(names) {
		t.Errorf("%v: an earlier range comes behind a later one", names)
	}
	late := time.Date(2026, 11, 24, 0, 30, 0, 0, time.FixedZone("CET", 3600))
	if got := ArchivedDir("website", late); got != "website/2026-11-23" {
		t.Errorf("half past midnight in Paris: %s", got)
	}
}

func FuzzParseArchivedName(f *testing.F) {
	f.Add("a/b/website/2026-11-23/3-00000000000000012000-00000000000000013000.ndjson.gz")
	f.Add("website/2026-11-23/3-12000-13000.ndjson.gz")
	f.Add("//--")
	f.Fuzz(func(t *testing.T, path string) {
		n, ok := ParseArchivedName(path)
		if !ok {
			return
		}
		if again, ok := ParseArchivedName(n.String()); !ok || again != n {
			t.Errorf("%q: %+v, and its name %s is read as %+v", path, n, n, again)
		}
	})
}
