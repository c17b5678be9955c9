package wsrecord

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// note applies the record of an application.
func note(t *testing.T, table *Table, at time.Time, by string, changes ...workspace.Change) []byte {
	t.Helper()
	r, err := table.Note(at, by, changes)
	if err != nil {
		t.Fatal(err)
	}
	if err = table.Apply(r); err != nil {
		t.Fatal(err)
	}
	return r.Value
}

func TestHistory(t *testing.T) {
	t.Parallel()
	table := NewTable()
	note(t, table, noon, "ada", workspace.Change{Op: workspace.Added, Kind: workspace.KindSource, ID: "a"})
	note(t, table, noon.Add(time.Hour+time.Millisecond), strings.Repeat("é", maxBy), workspace.Change{
		Op: workspace.Changed, Kind: workspace.KindDestination, ID: "crm", Fields: []string{"endpoints"}, Left: "topic deliver.crm stays",
	})
	want := []workspace.Application{
		{At: noon.Add(time.Hour), By: strings.Repeat("é", maxBy/2), Changes: []workspace.Noted{{Op: "~", Kind: "destination", ID: "crm", Fields: []string{"endpoints"}}}},
		{At: noon, By: "ada", Changes: []workspace.Noted{{Op: "+", Kind: "source", ID: "a"}}},
	}
	if diff := cmp.Diff(want, table.History()); diff != "" || !table.Applied {
		t.Errorf("the history (-want +got):\n%s", diff)
	}
}

// TestHistoryIsBounded: the oldest make room, and what is left out is counted.
func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	table := NewTable()
	var changes []workspace.Change
	for i := range 3 * mostNoted {
		changes = append(changes, workspace.Change{Op: workspace.Added, Kind: workspace.KindSource, ID: fmt.Sprintf("%060d", i)})
	}
	for i := range 2 * mostApplications {
		value := note(t, table, noon.Add(time.Duration(i)*time.Second), "ada", changes...)
		if len(value) > mostHistory+1000 {
			t.Fatalf("after %d applications the record has %d bytes", i+1, len(value))
		}
	}
	all := table.History()
	if len(all) < 5 || len(all[0].Changes) != mostNoted || all[0].More != 2*mostNoted || !all[0].At.Equal(noon.Add((2*mostApplications-1)*time.Second)) {
		t.Errorf("%d applications, the last one at %s with %d changes and %d more", len(all), all[0].At, len(all[0].Changes), all[0].More)
	}
	for i := range 2 * mostApplications {
		note(t, table, noon.Add(time.Duration(i)*time.Minute), "bob", changes[:1]...)
	}
	if all = table.History(); len(all) != mostApplications || all[len(all)-1].By != "bob" {
		t.Errorf("%d small applications are kept, want %d", len(all), mostApplications)
	}
}

// TestAnApplicationOfAnEarlierRelease says that there was one, and no more; what a later one
// says is kept.
func TestAnApplicationOfAnEarlierRelease(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]int{
		`{}`: 0, ``: 0, `null`: 0, `[1]`: 0, `{"applications":7}`: 0, `{"applications":[7,{"at":"x"},{"by":"ada"}]}`: 0,
		`{"applications":[{"at":"2026-11-21T12:00:00Z","changes":[],"why":"x"}],"checked":true}`: 1,
	} {
		table := NewTable()
		if err := table.Apply(&kgo.Record{Key: []byte(keyApplied), Value: []byte(value)}); err != nil || !table.Applied || len(table.History()) != want {
			t.Errorf("%s: %v, %v", value, err, table.History())
		}
		record := note(t, table, noon, "bob")
		if len(table.History()) != want+1 || strings.Contains(value, "why") != (strings.Contains(string(record), `"why":"x"`) && strings.Contains(string(record), `"checked":true`)) {
			t.Errorf("%s becomes %s", value, record)
		}
	}
}

// FuzzHistory: whatever the record says, there was an application, and the next one is noted.
func FuzzHistory(f *testing.F) {
	f.Add([]byte(`{"applications":[{"at":"2026-11-21T12:00:00Z","changes":[{"op":"~","kind":"source","id":"a"}]}]}`))
	f.Add([]byte(`{"applications":null,"x":1}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		table := NewTable()
		if err := table.Apply(&kgo.Record{Key: []byte(keyApplied), Value: value}); err != nil || !table.Applied {
			t.Fatalf("%q: %v", value, err)
		}
		for _, a := range table.History() {
			for i := range a.Changes {
				_ = a.Changes[i].String()
			}
		}
		r, err := table.Note(noon, "ada", nil)
		if err != nil || !json.Valid(r.Value) {
			t.Fatalf("%q becomes %q, %v", value, r.Value, err)
		}
		if err = table.Apply(r); err != nil || len(table.History()) == 0 || !table.History()[0].At.Equal(noon) {
			t.Errorf("%q becomes %q, which says %v, %v", value, r.Value, table.History(), err)
		}
	})
}

// TestHoldings: who changed something is known of the application that wrote it, and of no
// other.
func TestHoldings(t *testing.T) {
	t.Parallel()
	table := NewTable()
	source := func(id string, at time.Time) {
		t.Helper()
		r := &kgo.Record{Key: []byte("source/" + id), Value: []byte(`{"name":"A","writeKeySHA256":"` + strings.Repeat("0f", 32) + `","enabled":true}`), Timestamp: at}
		if err := table.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	added := func(id string) workspace.Change {
		return workspace.Change{Op: workspace.Added, Kind: workspace.KindSource, ID: id}
	}
	for _, id := range []string{"early", "gone", "known", "rewritten"} {
		source(id, noon)
	}
	note(t, table, noon, "ada", added("gone"), added("known"), added("rewritten"))
	source("known", noon.Add(time.Hour+time.Second))
	note(t, table, noon.Add(time.Hour), "bob", added("known"))
	source("rewritten", noon.Add(2*time.Hour)) // by an earlier release
	if err := table.Apply(&kgo.Record{Key: []byte("source/gone")}); err != nil {
		t.Fatal(err)
	}
	want := []workspace.Holding{
		{Kind: "source", ID: "early", Changed: noon},
		{Kind: "source", ID: "known", Changed: noon.Add(time.Hour + time.Second), By: "bob"},
		{Kind: "source", ID: "rewritten", Changed: noon.Add(2 * time.Hour)},
	}
	if diff := cmp.Diff(want, table.Holdings()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
