package settings

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

var update = flag.Bool("update", false, "write docs/configuration.md anew")

const (
	page      = "../../../docs/configuration.md"
	pageBegin = "<!-- config:begin -->\n"
	pageEnd   = "<!-- config:end -->\n"
)

// TestTheConfigurationPage: it lists every setting as the code describes it. Run it with -update to write it anew.
func TestTheConfigurationPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), pageBegin)
	_, tail, found := strings.Cut(rest, pageEnd)
	if !found {
		t.Fatalf("%s has no marks for the settings", page)
	}
	testkit.Golden(t, page, []byte(head+pageBegin+referenceTables()+pageEnd+tail), *update)
}

type section struct {
	title  string
	begins []string
}

// sections are the page's, by the beginnings of their settings' names. What begins with none of them is about the
// process.
func sections() []section {
	all := []section{
		{"Brokers", []string{"KAFKA_"}},
		{"Topics", []string{"TOPIC_", "DELIVER_TOPIC_", "RAW_EVENTS_", "RETRY_TOPIC_", "DEAD_LETTERS_"}},
		{"The embedded broker", []string{"DATA_DIR", "BROKER_"}},
		{"Every process", nil},
	}
	for _, s := range stages.Make() {
		all = append(all, section{s.Name, []string{s.Variables()}})
	}
	return append(all, section{"Tracing", []string{"OTEL_"}})
}

func referenceTables() string {
	rows := make(map[string]string)
	for _, v := range everything().variables() {
		def := "empty"
		if v.def != "" {
			def = "`" + v.def + "`"
		}
		rows[sectionOf(v.name)] += "| `" + v.name + "` | " + def + " | " + v.desc + " |\n"
	}
	var b strings.Builder
	for _, s := range sections() {
		b.WriteString("\n## " + s.title + "\n\n| variable | default | what it is for |\n|---|---|---|\n" + rows[s.title])
	}
	return b.String() + "\n"
}

func sectionOf(name string) string {
	other := ""
	for _, s := range sections() {
		if s.begins == nil {
			other = s.title
		}
		for _, begin := range s.begins {
			if strings.HasPrefix(name, begin) {
				return s.title
			}
		}
	}
	return other
}
