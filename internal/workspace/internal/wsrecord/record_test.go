package wsrecord

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/schemas"
)

// TestRecords pins the bytes: other versions read them.
func TestRecords(t *testing.T) {
	t.Parallel()
	s := wstest.CRM()
	records, err := NewTable().Encode(workspace.Diff(workspace.NewSnapshot(nil, nil), s), s)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, r := range records {
		got[string(r.Key)] = string(r.Value)
	}
	want := map[string]string{
		"source/website": `{"name":"Website","writeKeySHA256":"db28e346fc0fde38fa0d308ed6af9301772d8bdee364a640fd5b01433955cccc","enabled":true,"identity":{"blocked":["guest"]},` +
			`"trackingPlan":{"action":"block","events":{"Order Completed":{"properties":{"order_id":{"type":"string","required":true},"total":{"type":"number"}},"closed":true},` +
			`"Signed Out":{}},"otherEvents":true,"identify":{"properties":{"e-mail":{"required":true}}},"group":{"closed":true},` +
			`"page":{"properties":{"url":{"type":"string"}}},"screen":{"properties":{"size":{"type":"integer"}}}}}`,
		"destination/crm": `{"type":"webhooks","name":"CRM","sources":["personas","website"],"enabled":true,"sharedSecret":"` + wstest.Canary + `",` +
			`"endpoints":[{"url":"https://crm.example.com/hooks/events","headers":[{"name":"X-Team","value":"growth"}]}]}`,
		"destination/glacier": `{"type":"archive","name":"glacier","sources":["website"],"enabled":true,"archive":{"bucket":"calls","endpoint":"https://s3.example.com","region":"eu-central-1",` +
			`"prefix":"shop/","accessKey":"` + wstest.Canary + `","secretKey":"` + wstest.Canary + `","maxBytes":"8MiB","maxAge":"1m"},"historical":"refuse","historicalAfter":"48h"}`,
		"destination/shelf":     `{"type":"archive","name":"shelf","sources":[],"enabled":true,"archive":{"directory":"/var/lib/calls","maxBytes":"64MiB","maxAge":"5m"}}`,
		"destination/warehouse": `{"type":"topic","name":"warehouse","sources":["website"],"enabled":true,"topic":{"name":"shop.calls","partitions":12,"retention":"72h"}}`,
		"audience/big_spenders": `{"revision":1,"definition":{"destinations":["crm"],"enabled":true,"history":"full","id":"big_spenders","name":"Big Spenders","on_delete":"exit","send":"identify","stay":"1d",` +
			`"when":{"all":[{"did":"Order Completed","is":{"gte":500},"of":"total","sources":["website"],"take":"sum","within":"90d"},{"not":{"is":{"in":["staff","test"]},"trait":"plan"}}]}}}`,
		"trait/orders_30d":  `{"revision":1,"definition":{"did":"Order Completed","enabled":true,"every":"1h","history":"full","id":"orders_30d","name":"Orders 30d","send":"identify","take":"count","where":{"total":{"gt":0}},"within":"30d"}}`,
		"identity/settings": `{"anonymousIds":{"max":50,"per":"7d"}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(got["source/website"], "wk_website") {
		t.Error("the write key itself is in the topic")
	}
}

func TestRecordsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*workspace.Snapshot{
		"file": wstest.CRM(), "mixed": wstest.Of("a", "b"), "example": workspace.Example("http://127.0.0.1:8082/"), "secrets": wstest.Secretive(),
	} {
		records, err := NewTable().Encode(workspace.Diff(workspace.NewSnapshot(nil, nil), s), s)
		if err != nil {
			t.Fatal(err)
		}
		table := NewTable()
		for _, r := range records {
			if err := table.Apply(r); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		wstest.Equal(t, table.Snapshot(), s)
	}
}

func TestRecordsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	good := func(member string) string {
		return `{"type":"webhooks","endpoints":[{"url":"http://h"` + member + `}]}`
	}
	tests := map[string]struct{ key, value, want string }{
		"another kind":       {"Audience/a", "{}", `key "Audience/a": expected source/<id>, destination/<id>, audience/<id>, trait/<id>, identity/settings, pause/<id> or workspace/applied`},
		"no kind":            {"a", "{}", `key "a": expected source/<id>, destination/<id>, audience/<id>, trait/<id>, identity/settings, pause/<id> or workspace/applied`},
		"no id":              {"source/", "{}", `key "source/": expected source/<id>, destination/<id>, audience/<id>, trait/<id>, identity/settings, pause/<id> or workspace/applied`},
		"an id with a slash": {"source/a/b", "{}", `key "source/a/b": expected source/<id>, destination/<id>, audience/<id>, trait/<id>, identity/settings, pause/<id> or workspace/applied`},
		"no JSON":            {"source/a", "{", `"a": offset 1: not JSON`},
		"empty":              {"source/a", "", `"a": offset 0: not JSON`},
		"another kind of it": {"source/a", "[]", `"a": expected an object`},
		"no hash":            {"source/a", "{}", `"a": writeKeySHA256: expected 64 hexadecimal digits`},
		"a long hash":        {"source/a", `{"writeKeySHA256":"` + strings.Repeat("0", 66) + `"}`, `"a": writeKeySHA256: expected 64 hexadecimal digits`},
		"a key, not a hash":  {"source/a", `{"writeKeySHA256":"` + wstest.Canary + `"}`, `"a": writeKeySHA256: expected 64 hexadecimal digits`},
		"a plan of later":    {"source/a", withPlan(`{"action":"sample"}`), `"a": trackingPlan.action: expected one of allow, mark, block`},
		"an empty plan":      {"source/a", withPlan(`{}`), `"a": trackingPlan.action: expected one of allow, mark, block`},
		"a list of events":   {"source/a", withPlan(`{"action":"mark","events":[]}`), `"a": trackingPlan.events: expected an object`},
		"an event, no name":  {"source/a", withPlan(`{"action":"mark","events":{"":{}}}`), `"a": trackingPlan.events: expected a name of printable characters, 1 to 256 bytes`},
		"a type of later":    {"source/a", withPlan(`{"action":"mark","events":{"e":{"properties":{"p":{"type":"date"}}}}}`), `"a": trackingPlan.events: expected one of string, number, integer, boolean, object, array`},
		"a trait, no name":   {"source/a", withPlan(`{"action":"mark","group":{"properties":{"a\nb":{}}}}`), `"a": trackingPlan.group: expected a name of printable characters, 1 to 256 bytes`},
		"a secret number":    {"destination/a", `{"sharedSecret":4711}`, `"a": sharedSecret: expected a string`},
		"another type":       {"destination/a", `{"type":"slack"}`, `"a": of a type that this release does not know`},
		"no endpoints":       {"destination/a", `{"type":"webhooks"}`, `"a": endpoints: expected 1 to 5 endpoints`},
		"no archive":         {"destination/a", `{"type":"archive"}`, `"a": archive: expected exactly one of the keys directory and bucket`},
		"another scheme":     {"destination/a", `{"type":"webhooks","endpoints":[{"url":"file:///` + wstest.Canary + `"}]}`, `"a": endpoints[0]: expected an http or https URL with a host`},
		"a header that signs": {
			"destination/a", good(`,"headers":[{"name":"X-Signature","value":"` + wstest.Canary + `"}]`),
			`"a": endpoints[0]: expected another header: this one is set by each delivery itself`,
		},
		"a header with a line break": {
			"destination/a", good(`,"headers":[{"name":"X-A","value":"` + wstest.Canary + `\n"}]`),
			`"a": endpoints[0]: expected a header value without line breaks and control characters`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := NewTable()
			put(table, workspace.Source{ID: "a", Name: "before"}, workspace.Destination{ID: "a", Name: "before"})
			err := table.Apply(&kgo.Record{Topic: "workspace", Offset: 17, Key: []byte(tt.key), Value: []byte(tt.value)})
			if err == nil || err.Error() != "decode workspace[0]@17: "+tt.want {
				t.Errorf("%v\nwant %s", err, tt.want)
			}
			source, _ := table.Snapshot().Source("a")
			if d, ok := table.Snapshot().Destination("a"); !ok || d.Name != "before" || source.Name != "before" {
				t.Error("what was there is gone")
			}
		})
	}
}

// put puts into the table what no record says.
func put(t *Table, source workspace.Source, destination workspace.Destination) {
	t.entries[workspace.KindSource][source.ID] = entry{value: reflect.ValueOf(source)}
	t.entries[workspace.KindDestination][destination.ID] = entry{value: reflect.ValueOf(destination)}
}

// withPlan is the record of a source with a tracking plan.
func withPlan(plan string) string {
	return `{"name":"A","writeKeySHA256":"` + strings.Repeat("0f", 32) + `","enabled":true,"trackingPlan":` + plan + `}`
}

func TestRecordsOfLaterVersions(t *testing.T) {
	t.Parallel()
	table := NewTable()
	for key, text := range map[string]string{
		"destination/a": `{"type":"webhooks","colour":"red","endpoints":[{"url":"http://h","weight":1}]}`,
		"source/a":      withPlan(`{"action":"mark","owner":"growth","alias":{},"page":{"properties":{"url":{"pattern":"^/","type":"string"}},"deprecated":true}}`),
	} {
		if err := table.set(key, []byte(text)); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	s := table.Snapshot()
	if source, ok := s.Source("a"); len(s.Destinations()) != 1 || !ok || source.Plan.Page.Properties["url"].Type != workspace.StringType {
		t.Errorf("%v", s)
	}
}

func TestTombstones(t *testing.T) {
	t.Parallel()
	table := NewTable()
	put(table, workspace.Source{ID: "a"}, workspace.Destination{ID: "a"})
	table.Applied = true
	for _, key := range []string{"source/a", "destination/a", "destination/b", keyApplied} {
		if err := table.set(key, nil); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if s := table.Snapshot(); len(s.Sources())+len(s.Destinations()) != 0 || !table.Applied {
		t.Errorf("%v", s)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add("source/a", []byte(`{"name":"A","writeKeySHA256":"`+strings.Repeat("0f", 32)+`","enabled":true}`))
	f.Add("source/a", []byte(withPlan(`{"action":"block","events":{"e":{"properties":{"p":{"type":"integer","required":true}},"closed":true}},"otherEvents":true}`)))
	f.Add("source/a", []byte(withPlan(`{"action":"mark","events":{},"identify":{},"group":null,"page":{"properties":{"\"":{}}}}`)))
	f.Add("destination/a", []byte(`{"type":"webhooks","sources":["a"],"endpoints":[{"url":"http://u:p@h/?q","headers":[{"name":"X","value":"1"}]}]}`))
	f.Add("destination/a", []byte(`{"type":"webhooks","endpoints":[{"url":"http://h","headers":[{"name":"Host","value":"1"}]}]}`))
	f.Add("destination/a", []byte(`{"type":"topic","topic":{"name":"a.b","partitions":3,"retention":"1h"},"endpoints":[]}`))
	f.Add("destination/a", []byte(`{"type":"archive","archive":{"bucket":"abc","accessKey":"a","secretKey":"b"}}`))
	f.Add(keyApplied, []byte(`{}`))
	f.Add("", []byte(nil))
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		table := NewTable()
		if table.set(key, value) != nil {
			return
		}
		// What was accepted can be written, and is then read as the same.
		s := table.Snapshot()
		for _, change := range workspace.Diff(workspace.NewSnapshot(nil, nil), s) {
			text, err := table.encode(s.Entries(change.Kind), change.Kind, change.ID)
			if err != nil || !json.Valid(text) || bytes.Contains(text, []byte(schemas.Secret("").String())) {
				t.Fatalf("%s: %v", text, err)
			}
			if err := table.set(recordKey(change.Kind, change.ID), text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		if changes := workspace.Diff(s, table.Snapshot()); len(changes) > 0 {
			t.Errorf("changed by writing: %v", changes)
		}
	})
}
