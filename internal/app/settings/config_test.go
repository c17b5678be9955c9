package settings

import (
	"os"
	"strings"
	"testing"
)

func TestDefaultsWork(t *testing.T) {
	t.Parallel()
	cfg, err := Load(map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	if !cfg.Embedded() || !cfg.Topics.Embedded || cfg.InstanceID == "" {
		t.Errorf("without any setting: embedded %v, topics for it %v, instance %q", cfg.Embedded(), cfg.Topics.Embedded, cfg.InstanceID)
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Load(map[string]string{"TOPIC_REPLICATION": "many", "KAFKA_TLS": "perhaps", "INGEST_PRODUCE_TIMEOUT": "soon"})
	for _, part := range []string{"TOPIC_REPLICATION=many: expected a whole number", "KAFKA_TLS=perhaps: expected true or false", "INGEST_PRODUCE_TIMEOUT=soon: expected a duration"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("Load = %v, want %q in it", err, part)
		}
	}
}

func TestUnknownFindsTypingErrors(t *testing.T) {
	t.Parallel()
	got := Unknown(map[string]string{"WEBHOOK_SINK_RETRY_DELAY": "5s", "WEBHOOK_SINK_TIMEOUT": "5s", "PATH": "/bin"})
	if len(got) != 1 || got[0] != "WEBHOOK_SINK_RETRY_DELAY" {
		t.Errorf("Unknown = %v", got)
	}
}

// TestEverySettingIsDescribed: what `help config` prints is complete, and the
// README's copy of it is the same.
func TestEverySettingIsDescribed(t *testing.T) {
	t.Parallel()
	for _, v := range variables() {
		if v.desc == "" {
			t.Errorf("%s has no description", v.name)
		}
	}
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "<!-- config:begin -->\n")
	table, _, found := strings.Cut(rest, "<!-- config:end -->")
	if want := referenceTable(); !found || table != want {
		t.Errorf("the README's configuration reference is not what the code says; it should be:\n%s", want)
	}
}

func referenceTable() string {
	var b strings.Builder
	b.WriteString("| variable | default | what it is for |\n|---|---|---|\n")
	for _, v := range variables() {
		def := "empty"
		if v.def != "" {
			def = "`" + v.def + "`"
		}
		b.WriteString("| `" + v.name + "` | " + def + " | " + v.desc + " |\n")
	}
	return b.String()
}

func TestAdminTokenMustFitAHeader(t *testing.T) {
	t.Parallel()
	_, err := Load(map[string]string{"ADMIN_TOKEN": "two words"})
	if err == nil || !strings.Contains(err.Error(), "ADMIN_TOKEN=[redacted]: expected printable ASCII") {
		t.Errorf("got %v", err)
	}
}
