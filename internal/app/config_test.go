package app

import (
	"log/slog"
	"os"
	"strings"
	"testing"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestDefaultsWork(t *testing.T) {
	t.Parallel()
	cfg, err := LoadConfig(map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	if !cfg.embedded() || !cfg.Topics.Embedded || cfg.InstanceID == "" {
		t.Errorf("without any setting: embedded %v, topics for it %v, instance %q", cfg.embedded(), cfg.Topics.Embedded, cfg.InstanceID)
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	_, err := LoadConfig(map[string]string{"TOPIC_REPLICATION": "many", "KAFKA_TLS": "perhaps", "INGEST_PRODUCE_TIMEOUT": "soon"})
	for _, part := range []string{"TOPIC_REPLICATION=many: expected a whole number", "KAFKA_TLS=perhaps: expected true or false", "INGEST_PRODUCE_TIMEOUT=soon: expected a duration"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("LoadConfig = %v, want %q in it", err, part)
		}
	}
}

func TestUnknownFindsTypingErrors(t *testing.T) {
	t.Parallel()
	got := unknown(map[string]string{"WEBHOOK_SINK_RETRY_DELAY": "5s", "WEBHOOK_SINK_TIMEOUT": "5s", "PATH": "/bin"})
	if len(got) != 1 || got[0] != "WEBHOOK_SINK_RETRY_DELAY" {
		t.Errorf("unknown = %v", got)
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
	readme, err := os.ReadFile("../../README.md")
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
