package settings

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/archive"
	"github.com/anabranch/anabranch/ingest"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/personas"
	"github.com/anabranch/anabranch/router"
	webhooksink "github.com/anabranch/anabranch/webhook-sink"
)

// stages have settings of each kind.
var stages = pipeline.List{ingest.Stage, router.Stage, personas.Stage, webhooksink.Stage, archive.Stage}

func everything() *Config { return &Config{Stages: stages.Make()} }

func TestDefaultsWork(t *testing.T) {
	t.Parallel()
	cfg, err := Load(map[string]string{}, stages)
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
			if cfg, err := Load(environment, stages); err != nil || cfg.Returns != want {
				t.Errorf("Load(%v): returns %q, %v, want %s", environment, cfg.Returns, err, want)
			}
		}
	}
	if _, err := Load(map[string]string{"INSTANCE_RETURNS": "maybe"}, stages); err == nil || !strings.Contains(err.Error(), "INSTANCE_RETURNS=maybe: expected true or false") {
		t.Errorf("Load: %v, want the variable, its value and what was expected", err)
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Load(map[string]string{"TOPIC_REPLICATION": "many", "KAFKA_TLS": "perhaps", "INGEST_PRODUCE_TIMEOUT": "soon"}, stages)
	for _, part := range []string{"TOPIC_REPLICATION=many: expected a whole number", "KAFKA_TLS=perhaps: expected true or false", "INGEST_PRODUCE_TIMEOUT=soon: expected a duration"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("Load = %v, want %q in it", err, part)
		}
	}
}

func TestUnknownFindsTypingErrors(t *testing.T) {
	t.Parallel()
	cfg, err := Load(nil, stages)
	if err != nil {
		t.Fatal(err)
	}
	got := cfg.Unknown(map[string]string{
		"WEBHOOK_SINK_RETRY_DELAY": "5s", "ADMIN_TOKENS": "x", "METRICS_MAX_DESTINATION": "9", "TOPIC_PARTITION": "3",
		"DELIVER_TOPIC_PARTITION": "3", "KAFKA_SASL_MECHANISMS": "PLAIN", "KAFKA_TLS_CA": "ca.pem", "RAW_EVENTS_RETENTIONS": "1h", "RETRY_TOPIC_RETENTIONS": "1h",
		"DELIVER_TOPIC_PARTITIONS": "3", "KAFKA_SASL_MECHANISM": "PLAIN", "KAFKA_TLS": "true", "KAFKA_HOME": "/opt/kafka",
		"WEBHOOK_SINK_TIMEOUT": "5s", "METRICS_MAX_DESTINATIONS": "9", "PATH": "/bin",
		"WEBHOK_SINK_TIMEOUT": "5s", "KAFKA_BROKER": "b:9092", "KAFKA_PASSWORD_FIEL": "f", "ADMIN_TOKEN_FILE": "f", "LOGNAME": "root", "XDG_DATA_DIRS": "/usr",
		// What Kubernetes sets beside a Service of that name.
		"INGEST_SERVICE_HOST": "10.0.0.1", "INGEST_SERVICE_PORT_HTTP": "80", "INGEST_PORT": "tcp://10.0.0.1:80", "WEBHOOK_SINK_PORT_80_TCP_ADDR": "10.0.0.2",
	})
	want := map[string]string{
		"ADMIN_TOKENS": "ADMIN_TOKEN", "DELIVER_TOPIC_PARTITION": "DELIVER_TOPIC_PARTITIONS", "KAFKA_SASL_MECHANISMS": "KAFKA_SASL_MECHANISM",
		"KAFKA_TLS_CA": "", "METRICS_MAX_DESTINATION": "METRICS_MAX_DESTINATIONS", "RAW_EVENTS_RETENTIONS": "RAW_EVENTS_RETENTION",
		"RETRY_TOPIC_RETENTIONS": "RETRY_TOPIC_RETENTION", "TOPIC_PARTITION": "TOPIC_PARTITIONS", "WEBHOOK_SINK_RETRY_DELAY": "WEBHOOK_SINK_RETRY_DELAYS",
		"WEBHOK_SINK_TIMEOUT": "WEBHOOK_SINK_TIMEOUT", "KAFKA_BROKER": "KAFKA_BROKERS", "KAFKA_PASSWORD_FIEL": "KAFKA_PASSWORD_FILE",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Unknown (-want +got):\n%s", diff)
	}
}

// TestEverySettingIsDescribed: what `help config` prints is complete.
func TestEverySettingIsDescribed(t *testing.T) {
	t.Parallel()
	for _, v := range everything().variables() {
		if v.desc == "" {
			t.Errorf("%s has no description", v.name)
		}
	}
}

func TestSecretsKeyMustBeAKey(t *testing.T) {
	t.Parallel()
	_, err := Load(map[string]string{"SECRETS_KEY": "correct horse"}, stages)
	if err == nil || !strings.Contains(err.Error(), "SECRETS_KEY=[redacted]: key 1 of 2: expected 32 bytes") {
		t.Errorf("got %v", err)
	}
	cfg, err := Load(map[string]string{"SECRETS_KEY": strings.Repeat("0f", 32)}, stages)
	if err != nil || cfg.Keys().Current() == "" {
		t.Errorf("the key is %q, %v", cfg.Keys().Current(), err)
	}
}

func TestSuppressionKeyMustBeAKey(t *testing.T) {
	t.Parallel()
	_, err := Load(map[string]string{"SUPPRESSION_KEY": "correct"}, stages)
	if err == nil || !strings.Contains(err.Error(), "SUPPRESSION_KEY=[redacted]: key 1 of 1: expected 32 bytes") {
		t.Errorf("got %v", err)
	}
	cfg, err := Load(map[string]string{"SUPPRESSION_KEY": strings.Repeat("0f", 32) + " " + strings.Repeat("1f", 32)}, stages)
	if err != nil || len(cfg.SuppressionKeys().IDs()) != 2 {
		t.Errorf("the keys are %v, %v", cfg.SuppressionKeys().IDs(), err)
	}
}

func TestAdminTokenMustFitAHeader(t *testing.T) {
	t.Parallel()
	_, err := Load(map[string]string{"ADMIN_TOKEN": "two words"}, stages)
	if err == nil || !strings.Contains(err.Error(), "ADMIN_TOKEN=[redacted]: expected printable ASCII") {
		t.Errorf("got %v", err)
	}
}
