package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSecretsMayBeInFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	environment := map[string]string{
		"KAFKA_BROKERS": "b:9092", "KAFKA_SASL_MECHANISM": "PLAIN", "KAFKA_USERNAME": "u",
		"KAFKA_PASSWORD_FILE": file("password", " zqPassword7\n"), "ADMIN_TOKEN_FILE": file("token", "zqToken7\r\n"),
	}
	cfg, err := Load(environment, stages)
	if err != nil || cfg.Kafka.Password != " zqPassword7" || cfg.AdminToken != "zqToken7" {
		t.Errorf("password %q, token %q, %v", cfg.Kafka.Password.Reveal(), cfg.AdminToken.Reveal(), err)
	}
	if environment["ADMIN_TOKEN"] != "" {
		t.Error("the environment has been changed")
	}
	for want, change := range map[string]map[string]string{
		"ADMIN_TOKEN_FILE=" + dir + "/none: no such file":        {"ADMIN_TOKEN_FILE": dir + "/none"},
		"ADMIN_TOKEN_FILE=" + dir + "/token: ADMIN_TOKEN is set": {"ADMIN_TOKEN": "zqOther7", "ADMIN_TOKEN_FILE": dir + "/token"},
		"ADMIN_TOKEN_FILE=" + dir + "/empty: the file is empty":  {"ADMIN_TOKEN_FILE": file("empty", "\n")},
		"ADMIN_TOKEN=[redacted]: expected printable":             {"ADMIN_TOKEN_FILE": file("spaced", "zq Token7")},
		"KAFKA_PASSWORD_FILE=" + dir + ": is a directory":        {"KAFKA_PASSWORD_FILE": dir},
	} {
		_, err := Load(change, stages)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "zq") {
			t.Errorf("got %v, want %q and no secret", err, want)
		}
	}
}
