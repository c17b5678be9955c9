package wsrecord

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/document"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
)

// A later release has members that this one does not know, at every depth.
const (
	laterSource = `{"name":"Website","writeKeySHA256":"db28e346fc0fde38fa0d308ed6af9301772d8bdee364a640fd5b01433955cccc","enabled":true,"region":{"eu":[1,12345678901234567890]},
		"trackingPlan":{"action":"mark","owner":"growth","events":{"Signed Up":{"since":3,"properties":{"plan":{"type":"string","pattern":"^p"}}},"Signed Out":{"since":4}}}}`
	laterDestination = `{"version":1,"type":"webhooks","name":"CRM","sources":["website"],"enabled":true,"format":"<v2>","endpoints":[
		{"url":"https://a.example.com/","weight":7,"headers":[{"name":"X-Team","value":"growth","when":"retry"}]},{"url":"https://b.example.com/","weight":3}]}`
)

// rewritten applies a record, changes what it says, and returns the record of that.
func rewritten(t *testing.T, key, record string, change func(*workspace.Source, *workspace.Destination)) string {
	t.Helper()
	table := NewTable()
	if err := apply(table, key, record); err != nil {
		t.Fatal(err)
	}
	before := table.Snapshot()
	var sources []workspace.Source
	var destinations []workspace.Destination
	for _, s := range before.Sources() {
		change(&s, nil)
		sources = append(sources, s)
	}
	for _, d := range before.Destinations() {
		changed := *d
		change(nil, &changed)
		destinations = append(destinations, changed)
	}
	next := workspace.NewSnapshot(sources, destinations)
	records, err := table.Encode(workspace.Diff(before, next), next)
	if err != nil || len(records) != 1 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	if err := table.Apply(records[0]); err != nil {
		t.Fatal(err)
	}
	wstest.Equal(t, table.Snapshot(), next)
	return string(records[0].Value)
}

// TestUnknownMembersAreKept where what they belong to stays, whatever its place.
func TestUnknownMembersAreKept(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		key, record string
		change      func(*workspace.Source, *workspace.Destination)
		want        string
	}{
		"of a source": {
			"source/website", laterSource, func(s *workspace.Source, _ *workspace.Destination) {
				s.Enabled = false
				s.Plan = &workspace.TrackingPlan{Action: workspace.PlanBlock, Events: map[string]workspace.PlannedObject{"Signed Up": s.Plan.Events["Signed Up"], "New": {}}}
			},
			`{"name":"Website","writeKeySHA256":"db28e346fc0fde38fa0d308ed6af9301772d8bdee364a640fd5b01433955cccc","enabled":false,"region":{"eu":[1,12345678901234567890]},
				"trackingPlan":{"action":"block","owner":"growth","events":{"Signed Up":{"since":3,"properties":{"plan":{"type":"string","pattern":"^p"}}},"New":{}}}}`,
		},
		"of a plan that is gone": {
			"source/website", laterSource, func(s *workspace.Source, _ *workspace.Destination) { s.Plan = nil },
			`{"name":"Website","writeKeySHA256":"db28e346fc0fde38fa0d308ed6af9301772d8bdee364a640fd5b01433955cccc","enabled":true,"region":{"eu":[1,12345678901234567890]}}`,
		},
		"of endpoints in another order": {
			"destination/crm", laterDestination, func(_ *workspace.Source, d *workspace.Destination) {
				d.Endpoints = []workspace.Endpoint{d.Endpoints[1], {URL: "https://c.example.com/"}, d.Endpoints[0]}
			},
			`{"type":"webhooks","name":"CRM","sources":["website"],"enabled":true,"format":"<v2>","endpoints":[{"url":"https://b.example.com/","weight":3},
				{"url":"https://c.example.com/"},{"url":"https://a.example.com/","weight":7,"headers":[{"name":"X-Team","value":"growth","when":"retry"}]}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(parsedText(t, tt.want), parsedText(t, rewritten(t, tt.key, tt.record, tt.change))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func parsedText(t *testing.T, text string) any {
	t.Helper()
	parsed, err := document.ParseJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return parsed
}

// TestUnknownMembersEndWithTheirRecord: what is added anew under an old id does not
// inherit them.
func TestUnknownMembersEndWithTheirRecord(t *testing.T) {
	t.Parallel()
	table := NewTable()
	for _, value := range []string{laterDestination, ""} {
		if err := apply(table, "destination/crm", value); err != nil {
			t.Fatal(err)
		}
	}
	next := wstest.Of("crm")
	records, err := table.Encode([]workspace.Change{{Op: workspace.Added, Kind: workspace.KindDestination, ID: "crm"}}, next)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(records[0].Value, &got); err != nil || got["format"] != nil {
		t.Errorf("%s, %v", records[0].Value, err)
	}
}

// TestRecordsOfTheReleasesBefore: where there was nothing they have null, and they leave
// out what was the default.
func TestRecordsOfTheReleasesBefore(t *testing.T) {
	t.Parallel()
	table := NewTable()
	for key, text := range map[string]string{
		"source/website":  `{"name":"","writeKeySHA256":"db28e346fc0fde38fa0d308ed6af9301772d8bdee364a640fd5b01433955cccc","enabled":false,"trackingPlan":{"action":"mark","events":{},"page":{}}}`,
		"destination/crm": `{"type":"webhooks","name":"CRM","sources":null,"enabled":true,"endpoints":[{"url":"https://a.example.com/"}]}`,
		"destination/old": `{"type":"webhooks","endpoints":[{"url":"https://a.example.com/"}]}`,
	} {
		if err := apply(table, key, text); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	endpoints := []workspace.Endpoint{{URL: "https://a.example.com/"}}
	wstest.Equal(t, table.Snapshot(), workspace.NewSnapshot(
		[]workspace.Source{{
			ID: "website", WriteKeyHash: workspace.HashWriteKey("wk_website"),
			Plan: &workspace.TrackingPlan{Action: workspace.PlanMark, Events: map[string]workspace.PlannedObject{}, Page: &workspace.PlannedObject{}},
		}},
		[]workspace.Destination{
			{ID: "crm", Type: workspace.TypeWebhooks, Name: "CRM", Enabled: true, Endpoints: endpoints},
			{ID: "old", Type: workspace.TypeWebhooks, Endpoints: endpoints},
		},
	))
}

func TestTablesShowNoSecrets(t *testing.T) {
	t.Parallel()
	table, s := NewTable(), wstest.Secretive()
	records, err := table.Encode(workspace.Diff(table.Snapshot(), s), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		r.Value = []byte(strings.Replace(string(r.Value), "{", `{"later":"`+wstest.Canary+`",`, 1))
		if err := table.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	wstest.Equal(t, table.Snapshot(), s)
	wstest.ShowsNoSecret(t, map[string]any{"table": table, "within": struct{ Table *Table }{table}})
}
