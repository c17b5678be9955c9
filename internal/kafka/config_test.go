package kafka

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestConfigNamesWhatCannotWork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config Config
		want   []string // parts of the error; none: the configuration is good
	}{
		"several brokers":        {config: Config{Brokers: []string{"a:9092", "[::1]:9092"}}},
		"a broker without port":  {Config{Brokers: []string{"a"}}, []string{"KAFKA_BROKERS=a", "expected host:port"}},
		"a broker without host":  {Config{Brokers: []string{":9092"}}, []string{"KAFKA_BROKERS", "expected host:port"}},
		"an unknown mechanism":   {Config{SASLMechanism: "GSSAPI", Username: "u"}, []string{"KAFKA_SASL_MECHANISM=GSSAPI", "SCRAM-SHA-512"}},
		"a user, no mechanism":   {Config{Username: "u"}, []string{"KAFKA_SASL_MECHANISM is empty", "PLAIN"}},
		"a password, no user":    {Config{Password: "p"}, []string{"KAFKA_SASL_MECHANISM is empty", "KAFKA_PASSWORD"}},
		"a mechanism, no user":   {Config{SASLMechanism: "PLAIN"}, []string{"KAFKA_USERNAME is empty"}},
		"a user, no password":    {Config{SASLMechanism: "PLAIN", Username: "u"}, []string{"KAFKA_PASSWORD is empty", "KAFKA_USERNAME=u"}},
		"plain":                  {config: Config{SASLMechanism: "PLAIN", Username: "u", Password: "p"}},
		"scram":                  {config: Config{SASLMechanism: "SCRAM-SHA-256", Username: "u", Password: "p"}},
		"scram, the longer hash": {config: Config{SASLMechanism: "SCRAM-SHA-512", Username: "u", Password: "p", TLS: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.config.Validate()
			if (err == nil) != (len(c.want) == 0) {
				t.Fatalf("Validate = %v", err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("Validate = %q, want %q in it", err, part)
				}
			}
			if err != nil {
				return
			}
			c.config.Brokers = append(c.config.Brokers, "127.0.0.1:1")
			opts, err := c.config.Options(slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			cl, err := kgo.NewClient(opts...)
			if err != nil {
				t.Fatalf("the options make no client: %v", err)
			}
			cl.Close()
		})
	}
}
