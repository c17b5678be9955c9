package wsrecord

import (
	"errors"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

const present = `{"type":"webhooks","name":"now","enabled":true,"endpoints":[{"url":"http://a"}]}`

func apply(t *Table, key, value string) error {
	r := &kgo.Record{Topic: schemas.TopicWorkspace, Key: []byte(key)}
	if value != "" {
		r.Value = []byte(value)
	}
	return t.Apply(r)
}

// TestALaterVersionChangesNothing: whatever it says, and however it says it.
func TestALaterVersionChangesNothing(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"as now, and more":     `{"version":3,"type":"webhooks","name":"then","endpoints":[{"url":"http://b"}],"zone":"eu"}`,
		"of another shape":     `{"endpoints":{"eu":"http://b"},"name":7,"version":3}`,
		"of a type of its own": `{"version":3,"type":"stream"}`,
	} {
		table := NewTable()
		if err := apply(table, "destination/a", present); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"destination/a", "destination/b", "source/a"} {
			var later *schemas.VersionError
			if err := apply(table, key, value); !errors.As(err, &later) || later.Version < 3 || !strings.Contains(err.Error(), key[strings.Index(key, "/")+1:]) {
				t.Errorf("%s: %s: %v, want the version", name, key, err)
			}
		}
		s := table.Snapshot()
		if d, ok := s.Destination("a"); !ok || d.Name != "now" || len(s.Destinations()) != 1 || len(s.Sources()) != 0 {
			t.Errorf("%s: in force are %v", name, s)
		}
	}
}

// TestNothingIsWrittenOverALaterVersion until none is left.
func TestNothingIsWrittenOverALaterVersion(t *testing.T) {
	t.Parallel()
	table := NewTable()
	steps := []struct {
		key, value string
		blocked    string // the error names it; empty: writable
	}{
		{"destination/a", present, ""},
		{"destination/b", `{"version":3}`, "destination/b (1 of"},
		{"destination/a", `{"version":3}`, "destination/a (2 of"},
		{"destination/a", `{"type":`, "destination/a (2 of"}, // nobody reads that
		{"destination/a", present, "destination/b (1 of"},
		{"destination/b", "", ""},
		{"destination/b", `{"type":"stream","endpoints":{}}`, "destination/b (1 of"},
		{"destination/b", "", ""},
		{"segment/a", `{"version":3}`, ""}, // of a kind that is not ours to write
		{"source/a", `{"version":1`, ""},
	}
	for i, step := range steps {
		_ = apply(table, step.key, step.value)
		err := table.CheckWritable()
		if (err != nil) != (step.blocked != "") || err != nil && !strings.Contains(err.Error(), step.blocked) {
			t.Errorf("after step %d: %v, want %q", i+1, err, step.blocked)
		}
	}
}

func TestKindsOfALaterRelease(t *testing.T) {
	t.Parallel()
	for key, known := range map[string]bool{
		"segment/big-spenders": false, "segment/big_spenders": false, // could be
		"segment/": true, "Segment/a": true, "segment": true, "identity/other": true, "destination/A": true, "workspace/other/x": true, "": true, // no kind's
	} {
		if err := apply(NewTable(), key, "{}"); err == nil || errors.Is(err, ErrKind) == known {
			t.Errorf("%q: %v", key, err)
		}
	}
}

// TestATypeOfALaterReleaseChangesNothing: what was in force stays, nothing is made of what
// is new, and what an earlier type left in a record is ignored.
func TestATypeOfALaterReleaseChangesNothing(t *testing.T) {
	t.Parallel()
	table := NewTable()
	if err := apply(table, "destination/a", present); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"destination/a", "destination/b"} {
		if err := apply(table, key, `{"type":"stream","name":"then","topic":{"name":"deliver.a"}}`); !errors.Is(err, ErrType) || !Later(err) {
			t.Errorf("%s: %v", key, err)
		}
	}
	if d, ok := table.Snapshot().Destination("a"); !ok || d.Name != "now" || len(table.Snapshot().Destinations()) != 1 {
		t.Errorf("in force are %v", table.Snapshot())
	}
	if err := apply(table, "destination/a", `{"type":"topic","endpoints":[{"url":"http://a"}],"sharedSecret":"s"}`); err != nil {
		t.Fatal(err)
	}
	if d, _ := table.Snapshot().Destination("a"); d.Endpoints != nil || d.SharedSecret != "" || d.Topic() != "deliver.export.a" {
		t.Errorf("%+v", *d)
	}
}
