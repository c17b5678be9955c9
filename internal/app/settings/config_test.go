package settings

import (
	"os"
	"slices"
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

// TestWhoReturns: a process that was given a name comes back under it, one that took
// its host's may be replaced by another.
func TestWhoReturns(t *testing.T) {
	t.Parallel()
	for want, all := range map[string][]map[string]string{
		"true":  {{"INSTANCE_ID": "sink-0"}, {"INSTANCE_RETURNS": "true"}},
		"false": {{}, {"INSTANCE_ID": "sink-0", "INSTANCE_RETURNS": "false"}},
	} {
		for _, environment := range all {
			if cfg, err := Load(environment); err != nil || cfg.Returns != want {
				t.Errorf("Load(%v): returns %q, %v, want %s", environment, cfg.Returns, err, want)
			}
		}
	}
	if _, err := Load(map[string]string{"INSTANCE_RETURNS": "maybe"}); err == nil || !strings.Contains(err.Error(), "INSTANCE_RETURNS=maybe: expected true or false") {
		t.Errorf("Load: %v, want the variable, its value and what was expected", err)
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
	got := Unknown(map[string]string{
		"WEBHOOK_SINK_RETRY_DELAY": "5s", "ADMIN_TOKENS": "x", "METRICS_MAX_DESTINATION": "9", "TOPIC_PARTITION": "3",
		"DELIVER_TOPIC_PARTITION": "3", "KAFKA_SASL_MECHANISMS": "PLAIN", "KAFKA_TLS_CA": "ca.pem", "RAW_EVENTS_RETENTIONS": "1h", "RETRY_TOPIC_RETENTIONS": "1h",
		"DELIVER_TOPIC_PARTITIONS": "3", "KAFKA_SASL_MECHANISM": "PLAIN", "KAFKA_TLS": "true", "KAFKA_HOME": "/opt/kafka",
		"WEBHOOK_SINK_TIMEOUT": "5s", "METRICS_MAX_DESTINATIONS": "9", "PATH": "/bin",
		// What Kubernetes sets beside a Service of that name.
		"INGEST_SERVICE_HOST": "10.0.0.1", "INGEST_SERVICE_PORT_HTTP": "80", "INGEST_PORT": "tcp://10.0.0.1:80", "WEBHOOK_SINK_PORT_80_TCP_ADDR": "10.0.0.2",
	})
	want := []string{
		"ADMIN_TOKENS", "DELIVER_TOPIC_PARTITION", "KAFKA_SASL_MECHANISMS", "KAFKA_TLS_CA", "METRICS_MAX_DESTINATION",
		"RAW_EVENTS_RETENTIONS", "RETRY_TOPIC_RETENTIONS", "TOPIC_PARTITION", "WEBHOOK_SINK_RETRY_DELAY",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Unknown = %v, want %v", got, want)
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
