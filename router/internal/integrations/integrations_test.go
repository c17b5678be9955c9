package integrations

import (
	"encoding/json"
	"testing"
)

func TestEnabled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		integrations string
		want         bool
		why          string
	}{
		{``, true, "a call without a map goes everywhere"},
		{`{}`, true, "an empty map says nothing"},
		{`{"Webhooks":true}`, true, ""},
		{`{"Webhooks":false}`, false, ""},
		{`{"webhooks":false}`, true, "names are case sensitive"},
		{`{"WEBHOOKS":false}`, true, "names are case sensitive"},
		{`{"All":false}`, false, ""},
		{`{"all":false}`, false, "one SDK sends it in lower case"},
		{`{"ALL":false}`, true, "but no other spelling"},
		{`{"All":true}`, true, ""},
		{`{"All":false,"Webhooks":true}`, true, "the destination's own key goes first"},
		{`{"Webhooks":true,"All":false}`, true, "whatever the order"},
		{`{"All":true,"Webhooks":false}`, false, ""},
		{`{"All":false,"Webhooks":{}}`, true, "an object counts as true"},
		{`{"All":false,"Webhooks":{"enabled":false}}`, true, "whatever is in it"},
		{`{"All":false,"Webhooks":[]}`, true, ""},
		{`{"All":false,"Webhooks":null}`, true, "only the boolean false disables"},
		{`{"All":false,"Webhooks":0}`, true, "only the boolean false disables"},
		{`{"All":false,"Webhooks":""}`, true, "only the boolean false disables"},
		{`{"All":false,"Webhooks":"false"}`, true, "only the boolean false disables"},
		{`{"All":0}`, true, "All counts when it is a boolean"},
		{`{"All":null}`, true, ""},
		{`{"All":"false"}`, true, ""},
		{`{"All":{}}`, true, ""},
		{`{"All":null,"all":false}`, false, "an All that says nothing leaves the word to all"},
		{`{"All":true,"all":false}`, true, "All goes before all"},
		{`{"all":false,"All":true}`, true, "whatever the order"},
		{`{"All":false,"Other":true}`, false, "somebody else's key"},
		{`{"Web\u0068ooks":false}`, false, "an escape is the letter it stands for"},
	} {
		got, _, err := new(Filter).Enabled([]byte(c.integrations), "Webhooks")
		if err != nil || got != c.want {
			t.Errorf("enabled(%s) = %v, %v, want %v: %s", c.integrations, got, err, c.want, c.why)
		}
	}
}

// TestWhichKeyDecided is told of what is off, and of what is on.
func TestWhichKeyDecided(t *testing.T) {
	t.Parallel()
	for integrations, want := range map[string]string{
		``: "", `{"Other":false}`: "", `{"All":0}`: "",
		`{"All":false}`: "All", `{"all":false}`: "all", `{"all":true,"All":false}`: "All",
		`{"All":true,"Webhooks":false}`: "Webhooks", `{"All":false,"Webhooks":{}}`: "Webhooks",
	} {
		if _, by, err := new(Filter).Enabled([]byte(integrations), "Webhooks"); err != nil || by != want {
			t.Errorf("%s: decided by %q, want %q (%v)", integrations, by, want, err)
		}
	}
}

func TestEnabledRefusesWhatIsNoMap(t *testing.T) {
	t.Parallel()
	for _, integrations := range []string{`[]`, `true`, `"All"`, `null`, `{`, `{"All":}`, `{} {}`, `{"All":false`} {
		if on, _, err := new(Filter).Enabled([]byte(integrations), "Webhooks"); err == nil {
			t.Errorf("enabled(%s) = %v, want an error", integrations, on)
		}
	}
}

// FuzzEnabled holds the one-pass reading against the rule spelled out over a
// decoded map.
func FuzzEnabled(f *testing.F) {
	for _, seed := range []string{`{}`, `{"All":false}`, `{"all":false,"Webhooks":{}}`, `{"All":0,"all":true}`, `[1]`, `{"Webhooks":null}`} {
		f.Add([]byte(seed), "Webhooks")
	}
	f.Fuzz(func(t *testing.T, integrations []byte, name string) {
		var m map[string]any
		if json.Unmarshal(integrations, &m) != nil || m == nil {
			return
		}
		if _, collides := map[string]bool{"All": true, "all": true}[name]; collides {
			return
		}
		got, _, err := new(Filter).Enabled(integrations, name)
		if err != nil {
			t.Skip("deeper than the cap")
		}
		if want := oracle(m, name); got != want {
			t.Errorf("enabled(%q, %q) = %v, want %v", integrations, name, got, want)
		}
	})
}

func oracle(m map[string]any, name string) bool {
	if own, ok := m[name]; ok {
		return own != false
	}
	for _, key := range []string{"All", "all"} {
		if v, ok := m[key].(bool); ok {
			return v
		}
	}
	return true
}

func BenchmarkEnabled(b *testing.B) {
	integrations := []byte(`{"All":false,"Amplitude":{"session_id":1700000000000},"Webhooks":true}`)
	var f Filter
	b.ReportAllocs()
	for b.Loop() {
		if on, _, err := f.Enabled(integrations, "Webhooks"); !on || err != nil {
			b.Fatal(on, err)
		}
	}
}
