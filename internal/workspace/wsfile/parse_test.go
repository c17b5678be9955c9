package wsfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
)

const (
	wantID       = "lower-case letters, digits and hyphens, 1 to 64"
	wantWriteKey = "printable ASCII without spaces and colons, 1 to 256"
)

func TestParseReadsEveryKey(t *testing.T) {
	t.Parallel()
	wstest.Equal(t, parse(t, crm), wstest.CRM())
}

func TestParseDefaults(t *testing.T) {
	t.Parallel()
	wstest.Equal(t, parse(t, `
destinations: # before the sources it refers to
  - {id: crm, type: webhooks, sources: [], endpoints: [{url: "http://localhost:8082"}]}
sources:
  - {id: website, writeKey: wk}
  - {id: app, writeKey: 0042, enabled: false}
`), workspace.NewSnapshot(
		[]workspace.Source{
			{ID: "website", Name: "website", WriteKeyHash: workspace.HashWriteKey("wk"), Enabled: true},
			{ID: "app", Name: "app", WriteKeyHash: workspace.HashWriteKey("0042")},
		},
		[]workspace.Destination{{ID: "crm", Type: "webhooks", Name: "crm", Enabled: true, Endpoints: []workspace.Endpoint{{URL: "http://localhost:8082"}}}},
	))
}

func TestParseExplicitlyEmpty(t *testing.T) {
	t.Parallel()
	wstest.Equal(t, parse(t, "sources: []\ndestinations: []\n"), workspace.NewSnapshot(nil, nil))
}

// source and destination wrap keys into an otherwise good file, so that the
// line of the first of them is 3 and 10.
func source(keys string) string {
	return "sources:\n  -\n" + indent(keys) + "destinations: []\n"
}

func destination(keys string) string {
	return "sources:\n  - id: website\n    writeKey: wk\n  - id: app\n    writeKey: wk2\n\n" +
		"destinations:\n  - id: crm\n    type: webhooks\n" + indent(keys)
}

// typed is a file with a destination of any type, whose keys begin on line 5.
func typed(keys string) string {
	return "sources:\n  - {id: website, writeKey: wk}\ndestinations:\n  - id: crm\n" + indent(keys)
}

func exported(keys string) string {
	return typed("type: topic\n" + connected + "topic: {" + keys + "}")
}

func archived(keys string) string {
	return typed("type: archive\n" + connected + "archive: {" + keys + "}")
}

func indent(keys string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(keys), "\n", "\n    ") + "\n"
}

const (
	connected = "sources: [website]\n"
	delivered = "endpoints: [{url: 'https://example.com'}]\n"
)

func TestParseReportsProblems(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 65)
	tests := map[string]struct {
		text string
		want []string
	}{
		"unknown key, one near":      {source("id: website\nwirteKey: wk"), []string{"3: sources[0].writeKey: missing: expected text, {env: NAME} or {file: PATH}", "4: sources[0].wirteKey: unknown key: expected writeKey"}},
		"unknown key, none near":     {source("id: website\nwriteKey: wk\ncolour: red"), []string{"5: sources[0].colour: unknown key: expected one of id, name, writeKey, enabled, identity, trackingPlan"}},
		"unknown key in a wide case": {source("ID: website\nwriteKey: wk"), []string{"3: sources[0].ID: unknown key: expected id", "3: sources[0].id: missing: expected " + wantID}},
		"unknown section":            {"sources: []\ndestinations: []\naudience: []\n", []string{"3: audience: unknown key: expected audiences"}},
		"repeated key":               {source("id: website\nwriteKey: wk\nid: app"), []string{"5: sources[0].id: repeated: expected the key once; it is also on line 3"}},
		"repeated section":           {"sources: []\ndestinations: []\nsources: []\n", []string{"3: sources: repeated: expected the key once; it is also on line 1"}},
		"missing section":            {"sources: []\n", []string{"1: destinations: missing: expected a list of destinations; `destinations: []` says that there are none"}},
		"section cut short":          {"sources:\ndestinations: []\n", []string{"1: sources: nothing: expected a list; [] says that there are none"}},
		"section of another kind":    {"sources: {}\ndestinations: none\n", []string{"1: sources: a mapping: expected a list; [] says that there are none", "2: destinations: text: expected a list; [] says that there are none"}},
		"element of another kind":    {"sources: [website]\ndestinations: []\n", []string{"1: sources[0]: text: expected a source"}},
		"id of another kind":         {source("id: [a]\nwriteKey: wk"), []string{"3: sources[0].id: a list: expected " + wantID}},
		"id with an underscore":      {source("id: web_site\nwriteKey: wk"), []string{`3: sources[0].id: "web_site": expected ` + wantID}},
		"id too long":                {source("id: " + long + "\nwriteKey: wk"), []string{`3: sources[0].id: "` + long + `": expected ` + wantID}},
		"name cut short":             {source("id: website\nwriteKey: wk\nname:"), []string{"5: sources[0].name: nothing: expected text"}},
		"name empty":                 {source("id: website\nwriteKey: wk\nname: ''"), []string{`5: sources[0].name: "": expected 1 to 256 bytes`}},
		"enabled as text":            {source("id: website\nwriteKey: wk\nenabled: yes"), []string{`5: sources[0].enabled: "yes": expected true or false`}},
		"enabled cut short":          {source("id: website\nwriteKey: wk\nenabled:"), []string{"5: sources[0].enabled: nothing: expected true or false"}},
		"write key with a colon":     {source("id: website\nwriteKey: '" + wstest.Canary + ":'"), []string{"4: sources[0].writeKey: [redacted]: expected " + wantWriteKey}},
		"an alias":                   {source("id: &x website\nwriteKey: *x"), []string{"4: sources[0].writeKey: an alias: expected text, {env: NAME} or {file: PATH}"}},
		"a tag":                      {source("id: website\nwriteKey: !vault " + wstest.Canary), []string{`4: sources[0].writeKey: a value tagged "!vault": expected text, {env: NAME} or {file: PATH}`}},
		"a key that is a list":       {source("id: website\nwriteKey: wk\n? [a]\n: b"), []string{"5: sources[0]: a list: expected a key that is text"}},
		"missing keys": {"sources: [{}]\ndestinations: [{}]\n", []string{
			"1: sources[0].id: missing: expected " + wantID,
			"1: sources[0].writeKey: missing: expected text, {env: NAME} or {file: PATH}",
			"2: destinations[0].id: missing: expected " + wantID,
			"2: destinations[0].sources: missing: expected a list of ids of sources",
			"2: destinations[0].endpoints: missing: expected 1 to 5 endpoints",
		}},
		"another type": {strings.Replace(destination(connected+delivered), "webhooks", "webhook", 1), []string{`9: destinations[0].type: "webhook": expected one of webhooks, topic, archive`}},
		"endpoints of a topic": {typed("type: topic\n" + connected + "sharedSecret: s\n" + delivered), []string{
			"7: destinations[0].sharedSecret: goes with type: webhooks: expected no such key with type: topic",
			"8: destinations[0].endpoints: goes with type: webhooks: expected no such key with type: topic",
		}},
		"a topic of webhooks":        {typed(connected + delivered + "topic: {}"), []string{"7: destinations[0].topic: goes with type: topic: expected no such key with type: webhooks"}},
		"an archive of nothing":      {typed("type: archive\n" + connected), []string{"4: destinations[0].archive: missing: expected a mapping with the key directory or bucket"}},
		"an archive in two places":   {archived("directory: a, bucket: abc"), []string{"7: destinations[0].archive: a mapping: expected exactly one of the keys directory and bucket"}},
		"an archive in no place":     {archived("maxAge: 1m"), []string{"7: destinations[0].archive: a mapping: expected exactly one of the keys directory and bucket"}},
		"a directory with a region":  {archived("directory: a, region: eu"), []string{"7: destinations[0].archive: a mapping: expected a bucket with the keys endpoint, region, prefix, accessKey and secretKey; a directory has none of them"}},
		"half a key":                 {archived("bucket: abc, secretKey: " + wstest.Canary), []string{"7: destinations[0].archive: a mapping: expected accessKey and secretKey, or neither"}},
		"a size without a unit":      {archived("bucket: abc, maxBytes: 64"), []string{`7: destinations[0].archive.maxBytes: "64": expected a size such as 64MiB, 1KiB to 4GiB`}},
		"a size too large":           {archived("bucket: abc, maxBytes: 5GiB"), []string{`7: destinations[0].archive.maxBytes: "5GiB": expected a size such as 64MiB, 1KiB to 4GiB`}},
		"a bucket in capitals":       {archived("bucket: Calls"), []string{`7: destinations[0].archive.bucket: "Calls": expected the name of a bucket: lower-case letters, digits, dots and hyphens, 3 to 63, with a letter or digit at either end`}},
		"a topic that is taken":      {exported("name: raw-events"), []string{`7: destinations[0].topic.name: "raw-events": expected another name: this one is kept for topics of Anabranch or the brokers`}},
		"a topic in our namespace":   {exported("name: deliver.crm"), []string{`7: destinations[0].topic.name: "deliver.crm": expected another name: this one is kept for topics of Anabranch or the brokers`}},
		"a topic of the brokers":     {exported("name: __consumer_offsets"), []string{`7: destinations[0].topic.name: "__consumer_offsets": expected another name: this one is kept for topics of Anabranch or the brokers`}},
		"a topic that Kafka refuses": {exported("name: shop/calls"), []string{`7: destinations[0].topic.name: "shop/calls": expected a name that Kafka takes for a topic: letters, digits, dots, hyphens and underscores, 1 to 249`}},
		"no partitions":              {exported("partitions: 0"), []string{`7: destinations[0].topic.partitions: "0": expected a whole number, 1 to 1000`}},
		"one topic twice":            {exported("name: calls") + "  - {id: b, type: topic, sources: [], topic: {name: calls}}\n", []string{`8: destinations[1].topic.name: "calls": expected a topic of its own; line 7 has the same`}},
		"unknown source":             {destination("sources: [website, shop]\n" + delivered), []string{`10: destinations[0].sources[1]: "shop": expected the id of one of the sources, or personas`}},
		"source named twice":         {destination("sources: [app, app]\n" + delivered), []string{`10: destinations[0].sources[1]: "app": expected an entry of its own; line 10 has the same`}},
		"source of another kind":     {destination("sources: [[app]]\n" + delivered), []string{"10: destinations[0].sources[0]: a list: expected " + wantID}},
		"shared secret cut short":    {destination(connected + "sharedSecret:\n" + delivered), []string{"11: destinations[0].sharedSecret: nothing: expected text, {env: NAME} or {file: PATH}"}},
		"shared secret empty":        {destination(connected + "sharedSecret: ''\n" + delivered), []string{"11: destinations[0].sharedSecret: [redacted]: expected UTF-8 text of 1 to 4096 bytes"}},
		"no endpoints":               {destination(connected + "endpoints: []"), []string{"11: destinations[0].endpoints: 0 endpoints: expected 1 to 5 endpoints"}},
		"six endpoints":              {destination(connected + "endpoints:\n" + endpoints(6)), []string{"12: destinations[0].endpoints: 6 endpoints: expected 1 to 5 endpoints"}},
		"endpoints of another kind":  {destination(connected + "endpoints: https://u:" + wstest.Canary + "@h"), []string{"11: destinations[0].endpoints: text: expected a list; [] says that there are none"}},
		"another scheme":             {destination(connected + "endpoints: [{url: 'ftp://x'}]"), []string{`11: destinations[0].endpoints[0].url: "ftp://x": expected an http or https URL with a host`}},
		"no host":                    {destination(connected + "endpoints: [{url: 'https:///hooks'}]"), []string{`11: destinations[0].endpoints[0].url: "https:///hooks": expected an http or https URL with a host`}},
		"a fragment":                 {destination(connected + "endpoints: [{url: 'https://u:" + wstest.Canary + "@h/a?b=" + wstest.Canary + "#c'}]"), []string{`11: destinations[0].endpoints[0].url: "https://h/a": expected a URL without a fragment`}},
		"a misspelt URL":             {destination(connected + "endpoints: [{url: 'htps:/u:" + wstest.Canary + "@h/'}]"), []string{"11: destinations[0].endpoints[0].url: [redacted]: expected an http or https URL with a host"}},
		"a URL that can't be read":   {destination(connected + "endpoints: [{url: 'http://u:%zz" + wstest.Canary + "@h/'}]"), []string{"11: destinations[0].endpoints[0].url: [redacted]: expected an http or https URL with a host"}},
		"one URL twice":              {destination(connected + "endpoints:\n- url: http://h/?" + wstest.Canary + "\n- url: http://h/?" + wstest.Canary), []string{"13: destinations[0].endpoints[1].url: [redacted]: expected a URL of its own; line 12 has the same"}},
		"headers of another kind":    {destination(connected + "endpoints: [{url: 'http://h', headers: [X-A]}]"), []string{"11: destinations[0].endpoints[0].headers: a list: expected a mapping of header names to values"}},
		"a header that signs":        {destination(connected + "endpoints: [{url: 'http://h', headers: {x-signature: " + wstest.Canary + "}}]"), []string{`11: destinations[0].endpoints[0].headers.x-signature: "x-signature": expected another header: this one is set by each delivery itself`}},
		"a header without its space": {destination(connected + "endpoints: [{url: 'http://h', headers: {Authorization:" + wstest.Canary + "}}]"), []string{"11: destinations[0].endpoints[0].headers.(key): [redacted]: expected a header name: letters, digits, and any of !#$%&'*+-.^_`|~, at most 256"}},
		"a header in two cases":      {destination(connected + "endpoints: [{url: 'http://h', headers: {X-A: 1, x-a: 2}}]"), []string{`11: destinations[0].endpoints[0].headers.x-a: "x-a": expected a name (in any case) of its own; line 11 has the same`}},
		"a header with a line break": {destination(connected + `endpoints: [{url: 'http://h', headers: {X-A: "` + wstest.Canary + `\r\nX-B: 1"}}]`), []string{"11: destinations[0].endpoints[0].headers.X-A: [redacted]: expected a header value without line breaks and control characters"}},
		"too many headers":           {destination(connected + "endpoints:\n- url: http://h\n  headers:\n" + manyHeaders(21)), []string{"14: destinations[0].endpoints[0].headers: a mapping: expected at most 20 headers"}},
		"one id twice":               {"sources:\n- {id: a, writeKey: k1}\n- {id: a, writeKey: k2}\ndestinations: []\n", []string{`3: sources[1].id: "a": expected an id of its own; line 2 has the same`}},
		"one write key twice":        {"sources:\n- {id: a, writeKey: " + wstest.Canary + ", enabled: false}\n- {id: b, writeKey: " + wstest.Canary + "}\ndestinations: []\n", []string{"3: sources[1].writeKey: [redacted]: expected a write key of its own; line 2 has the same"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := problemsOf(t, tt.text)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, tt.text)
			}
			if strings.Contains(strings.Join(got, "\n"), wstest.Canary) {
				t.Errorf("a secret is shown: %s", got)
			}
		})
	}
}

func endpoints(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "- url: https://h%d.example.com\n", i)
	}
	return b.String()
}

func manyHeaders(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "    X-%d: a\n", i)
	}
	return b.String()
}

// TestParseLosesNothingWhenCut cuts a file after each byte: at no place does
// what is left say less than the whole does, except where nothing was lost.
func TestParseLosesNothingWhenCut(t *testing.T) {
	t.Parallel()
	whole := parse(t, crm)
	for n := range len(crm) {
		s, err := Parse("conf/workspace.yaml", []byte(crm[:n]), lookup())
		if err != nil {
			continue
		}
		// The end may be missing, in the middle of a URL or before headers.
		if d, ok := s.Destination("crm"); !ok || len(d.Endpoints) != 1 || len(s.Sources()) != len(whole.Sources()) {
			t.Errorf("cut at %d, the file is accepted as\n%s", n, crm[:n])
		}
	}
}

func TestParseReportsManyProblems(t *testing.T) {
	t.Parallel()
	got := problemsOf(t, "sources: ["+strings.Repeat("x,", 200)+"]\ndestinations: []\n")
	if last := got[len(got)-1]; len(got) != 100+1 || last != " and 100 more" {
		t.Errorf("%d lines, the last %q", len(got), last)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	onDisk := Lookup{Env: lookup().Env, File: SystemLookup().File}
	if _, err := Load(file, onDisk); err == nil || !strings.HasPrefix(err.Error(), "read workspace: open "+file) {
		t.Errorf("missing file: %v", err)
	}
	if err := os.WriteFile(file, []byte(crm), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(file, onDisk)
	if err != nil {
		t.Fatal(err)
	}
	wstest.Equal(t, s, parse(t, crm))
}
