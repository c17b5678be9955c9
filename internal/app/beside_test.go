package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/broker/datadir"
	"github.com/anabranch/anabranch/internal/doctor"
	"github.com/anabranch/anabranch/test/testkit"
)

// embeddedAlone skips a test about the embedded broker where the tests are told to use
// another.
func embeddedAlone(t *testing.T, env map[string]string) {
	t.Helper()
	if env["KAFKA_BROKERS"] != "" {
		t.Skip("about the embedded broker")
	}
}

// diagnosed is what doctor finds in a shell that has set these variables alone.
func diagnosed(t *testing.T, variables ...string) doctor.Diagnosis {
	t.Helper()
	for _, name := range []string{"KAFKA_BROKERS", "KAFKA_SASL_MECHANISM", "KAFKA_USERNAME", "KAFKA_PASSWORD", "BROKER_ADDR", "DATA_DIR", "TOPIC_PARTITIONS"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	for i := 0; i < len(variables); i += 2 {
		t.Setenv(variables[i], variables[i+1])
	}
	out, _ := typed(t, "doctor", "--json") // fails of problems
	var found doctor.Diagnosis
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatalf("doctor: %v\n%s", err, out)
	}
	return found
}

// says reports whether a finding of a level has a text.
func says(found doctor.Diagnosis, level doctor.Level, text string) bool {
	for _, f := range found.Findings {
		if f.Level == level && strings.Contains(f.About+" "+f.Found+" "+f.Do, text) {
			return true
		}
	}
	return false
}

// TestDoctorBesideAProcess judges by what that process runs with, and by what its
// broker is, however the shell leads there.
func TestDoctorBesideAProcess(t *testing.T) {
	env := with(environment(t), "TOPIC_PARTITIONS", "2")
	embeddedAlone(t, env)
	r := start(t, env)
	dir, elsewhere := env["DATA_DIR"], t.TempDir()
	addr := find(t, r.screen.String(), `embedded broker\s+([^,]+),`)
	password, err := datadir.Read(dir, datadir.BrokerPassword)
	if err != nil {
		t.Fatal(err)
	}
	if found := diagnosed(t, "DATA_DIR", dir); found.Problems > 0 || says(found, doctor.Warning, "TOPIC_PARTITIONS") || says(found, doctor.Warning, "trying things out") {
		t.Errorf("with DATA_DIR: %+v", found)
	}
	if found := diagnosed(t, "DATA_DIR", dir, "KAFKA_BROKERS", strings.Replace(addr, "127.0.0.1", "localhost", 1)); found.Problems > 0 || says(found, doctor.Warning, "partitions") {
		t.Errorf("with its broker in KAFKA_BROKERS too: %+v", found)
	}
	if found := diagnosed(t, "DATA_DIR", dir, "TOPIC_PARTITIONS", "3"); !says(found, doctor.Warning, `TOPIC_PARTITIONS the running process has "2"`) {
		t.Errorf("with another setting than the process: %+v", found)
	}
	credentials := []string{"KAFKA_SASL_MECHANISM", "SCRAM-SHA-256", "KAFKA_USERNAME", "anabranch", "KAFKA_PASSWORD", password.Reveal()}
	if found := diagnosed(t, append(credentials, "DATA_DIR", elsewhere, "KAFKA_BROKERS", addr, "TOPIC_PARTITIONS", "2")...); found.Problems > 0 || !says(found, doctor.Warning, "trying things out") {
		t.Errorf("as if it were a Kafka: %+v", found)
	}
	if found := diagnosed(t, "DATA_DIR", elsewhere, "KAFKA_BROKERS", addr); !says(found, doctor.Problem, "DATA_DIR/broker-password") {
		t.Errorf("without its password: %+v", found)
	}
}

// TestWhatAProcessTells is there while it runs, and no secret is in it.
func TestWhatAProcessTells(t *testing.T) {
	t.Parallel()
	env := with(environment(t), "ADMIN_TOKEN", "zqAdminToken8", "TOPIC_PARTITIONS", "2")
	embeddedAlone(t, env)
	r := start(t, env)
	dir := env["DATA_DIR"]
	password, err := datadir.Read(dir, datadir.BrokerPassword)
	if err != nil {
		t.Fatal(err)
	}
	told, err := os.ReadFile(filepath.Join(dir, "settings.json"))
	if text := string(told); err != nil || !strings.Contains(text, `"TOPIC_PARTITIONS": "2"`) || strings.Contains(text, "zqAdminToken8") || strings.Contains(text, password.Reveal()) {
		t.Errorf("error %v, want the settings without secrets in\n%s", err, text)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if told, err := datadir.ReadSettings(dir); told != nil || err != nil {
		t.Errorf("after the process has ended: settings %v, error %v", told, err)
	}
}

// TestAStageOnTheEmbeddedBrokerOfAnother says what it has come upon.
func TestAStageOnTheEmbeddedBrokerOfAnother(t *testing.T) {
	t.Parallel()
	env := environment(t)
	embeddedAlone(t, env)
	r := start(t, env)
	password, err := datadir.Read(env["DATA_DIR"], datadir.BrokerPassword)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := settings.Load(with(env,
		"KAFKA_BROKERS", find(t, r.screen.String(), `embedded broker\s+([^,]+),`), "KAFKA_SASL_MECHANISM", "SCRAM-SHA-256",
		"KAFKA_USERNAME", "anabranch", "KAFKA_PASSWORD", password.Reveal()), Stages())
	if err != nil {
		t.Fatal(err)
	}
	log := new(testkit.Logs)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, "webhook-sink", settings.Process{Config: cfg, Log: slog.New(slog.NewTextHandler(log, nil)), Out: new(testkit.Logs)})
	}()
	testkit.Until(t, func() bool { return strings.Contains(log.String(), "which is for trying things out") }, "the stage to say what its brokers are")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
