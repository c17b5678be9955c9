package decode

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/schematest"
)

// The terms of a request add to a call and change nothing about whether it is
// good: the schemas speak of calls alone. What is added to an event of any shape
// leaves it one.
func TestTermsDoNotChangeVerdicts(t *testing.T) {
	t.Parallel()
	terms := Terms{
		ReceivedAt: noon, IP: netip.MustParseAddr("2001:db8::1"), FillIP: true,
		Review: func(c *Call) *schemas.Violation {
			c.Mark(Finding{Path: "properties.\"x", Message: "\u2028<&>\n"})
			return nil
		},
		Suppressed: func([]byte) bool { return false },
	}
	g, plain, d := schematest.New(200), new(Decoder), new(Decoder)
	accepted := 0
	for range callsPerType / 4 {
		call := g.Type()
		text := g.Call(call, false)
		code := verdict(t, plain, call, text)
		if err := d.Parse(bytes.Clone(text), call); err != nil {
			continue // beyond the terms
		}
		rejected, err := d.Accept(terms)
		events := d.Events()
		if err != nil || (events.Len() == 1) != (code == "") || events.Len()+len(rejected) != 1 || len(rejected) == 1 && rejected[0].Code != code {
			t.Fatalf("%s: %d events and refusals %v, %v, without terms %q", excerpt(text), events.Len(), rejected, err, code)
		}
		if events.Len() == 0 {
			continue
		}
		accepted++
		e := events.At(0)
		checkEvent(t, &e)
		checkContract(t, text, e)
		checkAdditions(t, e.Value)
	}
	if accepted < callsPerType/20 {
		t.Errorf("%d calls were accepted, too few for a test that means something", accepted)
	}
}

func checkAdditions(t *testing.T, value []byte) {
	t.Helper()
	var event struct {
		Context map[string]json.RawMessage `json:"context"`
	}
	var protocols struct {
		Violations []map[string]string `json:"violations"`
	}
	if err := json.Unmarshal(value, &event); err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	if err := json.Unmarshal(event.Context["protocols"], &protocols); err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	if v := protocols.Violations; len(v) != 1 || v[0]["path"] != "properties.\"x" {
		t.Fatalf("%s: marked with %v", value, v)
	}
	if event.Context["ip"] == nil {
		t.Fatalf("%s: no address", value)
	}
}
