package wsrecord

import (
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// TestASealedSecretIsKept whatever is in it, and its record says that earlier releases
// can't read it; one that is opened for good leaves neither behind.
func TestASealedSecretIsKept(t *testing.T) {
	t.Parallel()
	const sealed = `{"version":2,"type":"webhooks","name":"CRM","enabled":true,"format":"v9","sharedSecret":{"sealed":"one.two"},
		"endpoints":[{"url":"https://a.example.com/","headers":[{"name":"X-Token","value":{"sealed":""}},{"name":"X-Team","value":"growth"}]}]}`
	table := NewTable()
	if err := apply(table, "destination/crm", sealed); err != nil {
		t.Fatal(err)
	}
	d, _ := table.Snapshot().Destination("crm")
	headers := d.Endpoints[0].Headers
	if d.SharedSecret != schemas.SealedSecret("one.two") || headers[0].Value != schemas.SealedSecret("") || headers[1].Value != "growth" {
		t.Error("a secret is not what the record says")
	}
	renamed := rewritten(t, "destination/crm", sealed, func(_ *workspace.Source, d *workspace.Destination) { d.Name = "C" })
	for _, kept := range []string{`"version":2`, `"sharedSecret":{"sealed":"one.two"}`, `"value":{"sealed":""}`, `"format":"v9"`} {
		if !strings.Contains(renamed, kept) {
			t.Errorf("no %s in %s", kept, renamed)
		}
	}
	another := rewritten(t, "destination/crm", sealed, func(_ *workspace.Source, d *workspace.Destination) {
		d.SharedSecret = schemas.SealedSecret("three")
	})
	if !strings.Contains(another, `{"sealed":"three"}`) {
		t.Errorf("the former secret is in %s", another)
	}
	opened := rewritten(t, "destination/crm", sealed, func(_ *workspace.Source, d *workspace.Destination) {
		d.SharedSecret, d.Endpoints[0].Headers = "s3cret", nil
	})
	if strings.Contains(opened, "sealed") || strings.Contains(opened, "version") || !strings.Contains(opened, `"format":"v9"`) {
		t.Errorf("what is not sealed is written as %s", opened)
	}
}

// TestWhatIsNoSealedSecret is refused, as every value of another form.
func TestWhatIsNoSealedSecret(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{`{}`, `{"sealed":7}`, `{"sealed":"a","key":"b"}`, `{"Sealed":"a"}`, `["a"]`, `{"sealed":{"sealed":"a"}}`} {
		record := `{"type":"webhooks","sharedSecret":` + secret + `,"endpoints":[{"url":"http://a"}]}`
		if err := apply(NewTable(), "destination/a", record); err == nil || !strings.Contains(err.Error(), "sharedSecret: expected a string") {
			t.Errorf("%s: %v", secret, err)
		}
	}
	// Nothing else can be sealed: not a source's hash, nor a name.
	for key, record := range map[string]string{
		"source/a":      `{"writeKeySHA256":{"sealed":"a"}}`,
		"destination/a": `{"type":"webhooks","name":{"sealed":"a"},"endpoints":[{"url":"http://a"}]}`,
	} {
		if err := apply(NewTable(), key, record); err == nil {
			t.Errorf("%s was read", record)
		}
	}
}
