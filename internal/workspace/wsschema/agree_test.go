package wsschema

import (
	"bytes"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
)

// compiled returns the published schema, as a validator has it.
func compiled(tb testing.TB) *jsonschema.Schema {
	tb.Helper()
	text, err := os.ReadFile("../../../schemas/workspace.schema.json")
	if err != nil {
		tb.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		tb.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err = compiler.AddResource("workspace", schema); err != nil {
		tb.Fatal(err)
	}
	return compiler.MustCompile("workspace")
}

// asEditorsSee returns a YAML node as what a schema is asked about.
func asEditorsSee(tb testing.TB, node *yaml.Node) any {
	tb.Helper()
	switch node.Kind {
	case yaml.DocumentNode:
		return asEditorsSee(tb, node.Content[0])
	case yaml.MappingNode:
		members := make(map[string]any)
		for pair := range slices.Chunk(node.Content, 2) {
			members[pair[0].Value] = asEditorsSee(tb, pair[1])
		}
		return members
	case yaml.SequenceNode:
		elements := make([]any, len(node.Content))
		for i, each := range node.Content {
			elements[i] = asEditorsSee(tb, each)
		}
		return elements
	case yaml.ScalarNode, yaml.AliasNode:
	}
	var scalar any
	if err := node.Decode(&scalar); err != nil || node.Tag == "!!timestamp" {
		return node.Value
	}
	return scalar
}

func rootOf(tb testing.TB, text string) *yaml.Node {
	tb.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err != nil {
		tb.Fatalf("%v\n%s", err, text)
	}
	return &root
}

// accepted tells whether wsfile takes a file whose references all lead to a secret.
func accepted(text string) (bool, error) {
	_, err := wsfile.Parse("workspace.yaml", []byte(text), wsfile.Lookup{
		Env: func(name string) (string, bool) { return "secret", name != "" },
		File: func(path string) ([]byte, error) {
			if path == "." { // the folder
				return nil, fs.ErrInvalid
			}
			return []byte("secret"), nil
		},
	})
	return err == nil, err
}

func TestTheSchemaAcceptsWorkspaces(t *testing.T) {
	t.Parallel()
	schema := compiled(t)
	ours, err := os.ReadFile("../../../scripts/compose/workspace.yaml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/personas.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	for name, text := range map[string]string{"of definitions": "sources: []\ndestinations: []\n" + example, "of every key": wstest.File, "of docker compose": string(ours), "empty": "sources: []\ndestinations: []\n"} {
		if err := schema.Validate(asEditorsSee(t, rootOf(t, text))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheSchemaRefusesMistakes replaces a line of a good file by one with a mistake.
func TestTheSchemaRefusesMistakes(t *testing.T) {
	t.Parallel()
	schema := compiled(t)
	many := strings.Repeat("a", 5000)
	for name, change := range map[string][2]string{
		"unknown key":            {"    name: Website\n", "    nam: Website\n"},
		"unknown section":        {"destinations:\n", "audience: []\ndestinations:\n"},
		"missing key":            {"    writeKey: wk_website\n", ""},
		"missing section":        {"sources:\n", "audience:\n"},
		"cut short":              {"    name: CRM\n", "    name:\n"},
		"name empty":             {"name: CRM", "name: ''"},
		"name too long":          {"name: CRM", "name: " + many},
		"id with an underscore":  {"- id: website", "- id: web_site"},
		"enabled as text":        {"enabled: true", "enabled: yes-please"},
		"write key with a colon": {"writeKey: wk_website", "writeKey: 'wk:website'"},
		"a reference misspelt":   {"{env: CRM_SECRET}", "{enw: CRM_SECRET}"},
		"two references":         {"{env: CRM_SECRET}", "{env: A, file: b}"},
		"a reference to nothing": {"{env: CRM_SECRET}", "{env: }"},
		"another type":           {"type: webhooks", "type: webhook"},
		"a type without its key": {"type: webhooks\n    name: CRM", "type: archive"},
		"a key of another type":  {"type: topic", "type: webhooks"},
		"a topic of ours":        {"shop.calls", "deliver.calls"},
		"a size without a unit":  {"8MiB", "8"},
		"a bucket in capitals":   {"bucket: calls", "bucket: Calls"},
		"a source named twice":   {"sources: [website]", "sources: [website, website]"},
		"sources of another form": {
			"sources: [website]", "sources: website",
		},
		"no endpoints":                    {"endpoints:\n      - url: https://crm.example.com/hooks/events\n        headers: {X-Team: growth}\n", "endpoints: []\n"},
		"six endpoints":                   {"- url: https://crm.example.com/hooks/events\n", strings.Repeat("- url: https://crm.example.com/\n      ", 6) + "- url: https://h/\n"},
		"another scheme":                  {"https://crm", "ftp://crm"},
		"no host":                         {"https://crm.example.com/hooks", "https:///hooks"},
		"a fragment":                      {"hooks/events", "hooks#events"},
		"a space in a URL":                {"hooks/events", "hooks/my events"},
		"a number for a URL":              {"https://crm.example.com/hooks/events", "7"},
		"a header that signs":             {"X-Team", "X-signaturE"},
		"a header of the connection":      {"X-Team", "TE"},
		"a header with a space":           {"X-Team", "X Team"},
		"a header with a line break":      {"X-Team: growth", `X-Team: "a\nb"`},
		"a header that is empty":          {"X-Team: growth", "X-Team: ''"},
		"headers of another form":         {"{X-Team: growth}", "[X-Team]"},
		"another action":                  {"action: block", "action: drop"},
		"another JSON type":               {"{type: integer}", "{type: int}"},
		"an event, no name":               {"Signed Out: {}", "'': {}"},
		"an event cut short":              {"Signed Out: {}", "Signed Out:"},
		"traits of a page":                {"      page:\n        properties:", "      page:\n        traits:"},
		"properties of a user":            {"        traits:\n", "        properties:\n"},
		"an audience without a condition": {"    when:\n      all:\n        - {did: Order Completed, take: sum, of: total, is: {gte: 500}, within: 90d, sources: [website]}\n        - {not: {trait: plan, is: [staff, test]}}\n", ""},
		"a key of a trait in an audience": {"    stay: 1d", "    every: 1d"},
		"a condition of two forms":        {"{not: {trait: plan, is: [staff, test]}}", "{not: {trait: plan, is: 1}, audience: a}"},
		"a condition of none":             {"{not: {trait: plan, is: [staff, test]}}", "{}"},
		"a condition of a later release":  {"within: 90d, sources", "then_not: {did: Refunded, within: 1d}, sources"},
		"no test":                         {"is: [staff, test]", "is: []"},
		"another operator":                {"{gte: 500}", "{ge: 500}"},
		"another aggregate":               {"take: sum", "take: total"},
		"a window that is no duration":    {"within: 90d", "within: 90"},
		"a filter without a test":         {"{total: {gt: 0}}", "{total: {}}"},
		"a number as text":                {"{total: {gt: 0}}", "{total: {gt: '0'}}"},
		"on_delete of another word":       {"on_delete: exit", "on_delete: leave"},
		"a bound of nothing":              {"max: 50", "max: 0"},
		"the built-in source declared":    {"- id: website", "- id: personas"},
		"truth as text":                   {"required: true", "required: 'true'"},
	} {
		text := strings.Replace(wstest.File, change[0], change[1], 1)
		if text == wstest.File {
			t.Fatalf("%s: nothing replaced", name)
		}
		if ok, _ := accepted(text); ok {
			t.Errorf("%s: no mistake", name)
		}
		if schema.Validate(asEditorsSee(t, rootOf(t, text))) == nil {
			t.Errorf("%s: the schema accepts it:\n%s", name, text)
		}
	}
}

// TestTheSchemaRefusesNothingGood puts something else in each place of a good file:
// whatever wsfile still accepts is accepted by the schema.
func TestTheSchemaRefusesNothingGood(t *testing.T) {
	t.Parallel()
	schema := compiled(t)
	good, bad := 0, 0
	for at := 0; at < len(places(rootOf(t, wstest.File))); at += everyPlace {
		for _, other := range []string{
			"''", "7", "-1.5", "true", "no", "~", "2026-01-02", "[]", "{}", "[website]", "a", "A b", "{env: A}", "{file: b}", "{a: {}}", "webhooks", "number", "HTTP://u:p@h?q", "0x10", "1e-3",
		} {
			root := rootOf(t, wstest.File)
			*places(root)[at] = *rootOf(t, other).Content[0]
			text, err := yaml.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			ok, _ := accepted(string(text))
			err = schema.Validate(asEditorsSee(t, rootOf(t, string(text))))
			switch {
			case ok && err != nil:
				t.Errorf("%v\n%s", err, text)
			case ok:
				good++
			case err != nil:
				bad++
			}
		}
	}
	if good < 100/everyPlace || bad < 100/everyPlace {
		t.Errorf("%d good and %d bad files were tried", good, bad)
	}
}

// places returns all nodes below one but keys.
func places(node *yaml.Node) []*yaml.Node {
	var all []*yaml.Node
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			continue
		}
		all = append(append(all, child), places(child)...)
	}
	return all
}
