package wsfile

import (
	"errors"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wsrecord"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/schemas"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		crm, "", "---\n", "sources: []\ndestinations: []\n", source("id: website\nwirteKey: wk"),
		destination(connected + "endpoints:\n" + endpoints(6)), "a: &a [*a]\n", "a: *b\n", "{", "? [a]\n: b", "%YAML 1.2\n---\n", "- - - -", "sources: [", "\ufeff{}",
		"sources: &x [{id: a, writeKey: {file: secrets/crm}}]\ndestinations: *x\n", "a: !!binary aGVsbG8=\n", "<<: {a: b}\n", "# \n#", "a: |\n  b\n c", "k: >-2\n    a\n  b",
		typed("type: topic\ntopic: {name: a.b, partitions: 3, retention: 1h}"), typed("type: archive\narchive: {bucket: abc, accessKey: a, secretKey: b, maxBytes: 1KiB}"),
		planOf("action: block\nevents: {e: {properties: {'a b': {type: integer}}}}"), planOf("events: {'': {}}\npage: {properties: {\"\\t\": {type: date}}}"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("conf/workspace.yaml", []byte(text), lookup())
		if err != nil {
			checkRefusal(t, err, strings.Count(text, "\n")+1)
			return
		}
		checkAccepted(t, s)
	})
}

// checkRefusal wants problems with a line of the file and an expectation.
func checkRefusal(t *testing.T, err error, lines int) {
	t.Helper()
	refusal, ok := errors.AsType[*Error](err)
	if !ok || len(refusal.Problems) == 0 {
		t.Fatalf("%T: %v", err, err)
	}
	for _, p := range refusal.Problems {
		// Whole-file problems have no line, which is one: the size.
		if p.Want == "" || p.Line > lines || p.Line < 1 && !strings.HasSuffix(p.Value, " bytes") {
			t.Errorf("%+v in a file of %d lines", p, lines)
		}
	}
	if strings.Contains(err.Error(), wstest.Canary) {
		t.Errorf("a secret is shown: %v", err)
	}
}

// checkDestination wants what goes with its type, and nothing else.
func checkDestination(t *testing.T, d *workspace.Destination) {
	t.Helper()
	webhooks := d.Type == workspace.TypeWebhooks
	if !schemas.ValidID(d.ID) || webhooks != (len(d.Endpoints) > 0) || len(d.Endpoints) > workspace.MaxEndpoints || !webhooks && d.SharedSecret != "" {
		t.Errorf("destination %+v", d)
	}
	if d.Type != workspace.TypeTopic && d.Export != nil || (d.Type == workspace.TypeArchive) != (d.Archive != nil) || !schemas.ValidTopic(d.Topic()) {
		t.Errorf("destination %+v of type %s", d, d.Type)
	}
}

// checkAccepted wants a workspace that keeps the rules and survives the topic.
func checkAccepted(t *testing.T, s *workspace.Snapshot) {
	t.Helper()
	for _, d := range s.Destinations() {
		checkDestination(t, d)
		for _, id := range d.Sources {
			if _, ok := s.Source(id); !ok {
				t.Errorf("destination %s: unknown source %q", d.ID, id)
			}
		}
	}
	table := wsrecord.NewTable()
	records, err := wsrecord.NewTable().Encode(workspace.Diff(workspace.NewSnapshot(nil, nil), s), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := table.Apply(r); err != nil {
			t.Error(err)
		}
	}
	if changes := workspace.Diff(s, table.Snapshot()); len(changes) > 0 {
		t.Errorf("changed by the topic: %v", changes)
	}
}
