package broker

import (
	"strings"
	"testing"
)

func TestConfigValidate(t *testing.T) {
	tests := map[string]struct {
		config Config
		want   string // the error's beginning; empty: valid
	}{
		"default":        {Config{DataDir: "./anabranch-data", Addr: "127.0.0.1:9092"}, ""},
		"any port":       {Config{DataDir: "d", Addr: "127.0.0.1:0"}, ""},
		"by name":        {Config{DataDir: "d", Addr: "localhost:9092"}, ""},
		"other loopback": {Config{DataDir: "d", Addr: "127.0.0.2:9092"}, ""},
		"IPv6 loopback":  {Config{DataDir: "d", Addr: "[::1]:9092"}, ""},
		"no directory":   {Config{Addr: "127.0.0.1:9092"}, "DATA_DIR=: expected the path of a directory"},
		"no port":        {Config{DataDir: "d", Addr: "127.0.0.1"}, "BROKER_ADDR=127.0.0.1: expected host:port"},
		"all interfaces": {Config{DataDir: "d", Addr: ":9092"}, "BROKER_ADDR=:9092: expected a loopback address"},
		"all by number":  {Config{DataDir: "d", Addr: "0.0.0.0:9092"}, "BROKER_ADDR=0.0.0.0:9092: expected a loopback address"},
		"another host":   {Config{DataDir: "d", Addr: "kafka-1:9092"}, "BROKER_ADDR=kafka-1:9092: expected a loopback address"},
		"mapped IPv4":    {Config{DataDir: "d", Addr: "[::ffff:127.0.0.1]:9092"}, ""},
		"public mapped":  {Config{DataDir: "d", Addr: "[::ffff:8.8.8.8]:9092"}, "BROKER_ADDR=[::ffff:8.8.8.8]:9092: expected a loopback"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := test.config.Validate()
			if test.want == "" {
				if err != nil {
					t.Errorf("Validate = %v, want nil", err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("Validate = %v, want %q…", err, test.want)
			}
		})
	}
}
