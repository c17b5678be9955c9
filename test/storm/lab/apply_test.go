package lab

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace/wsfile"
)

// TestWorkspaceFile: the file says what the bench puts in force without one.
func TestWorkspaceFile(t *testing.T) {
	l := newLab(&Bench{Seed: 7}, "row", t.TempDir())
	l.Destination("a", 1, "http://127.0.0.1:1/hook")
	l.Destination("b", 1, "http://127.0.0.1:2/hook", "http://127.0.0.1:3/hook")
	file := filepath.Join(l.Dir, "workspace.yaml")
	if err := os.WriteFile(file, []byte(l.workspaceFile()), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := wsfile.Load(file, wsfile.SystemLookup())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l.snapshot().String(), read.String()); diff != "" {
		t.Errorf("(-bench +file):\n%s", diff)
	}
	for _, want := range l.workspace {
		got, ok := read.Destination(want.ID)
		if !ok || got.Name != want.Name || !cmp.Equal(got.Sources, want.Sources) || len(got.Endpoints) != len(want.Endpoints) {
			t.Errorf("destination %s: %+v, want %+v", want.ID, got, want)
			continue
		}
		for i, e := range want.Endpoints {
			if got.Endpoints[i].URL != e.URL {
				t.Errorf("destination %s: endpoint %s, want %s", want.ID, got.Endpoints[i].URL, e.URL)
			}
		}
	}
}

func TestMissingOfAnUpgrade(t *testing.T) {
	cases := map[string]struct {
		bench *Bench
		row   Row
		want  string
	}{
		"an upgrade takes an old version": {&Bench{}, Row{Upgrade: true}, "-old"},
		"which is any binary":             {&Bench{Old: "anabranch"}, Row{Upgrade: true}, ""},
		"what is Kafka's own takes Kafka": {&Bench{}, Row{Kafka: true}, "a real Kafka"},
		"wherever that is":                {&Bench{Brokers: "kafka:9092"}, Row{Kafka: true}, ""},
	}
	for name, c := range cases {
		if got := c.bench.Missing(c.row); got != c.want {
			t.Errorf("%s: Missing %q, want %q", name, got, c.want)
		}
	}
}
