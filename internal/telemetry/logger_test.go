package telemetry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/telemetry"
)

func TestNewLoggerLevels(t *testing.T) {
	tests := map[string]struct {
		level string
		want  []string
	}{
		"debug":      {"debug", []string{"DEBUG", "INFO", "WARN", "ERROR"}},
		"info":       {"info", []string{"INFO", "WARN", "ERROR"}},
		"default":    {"", []string{"INFO", "WARN", "ERROR"}},
		"warn":       {"warn", []string{"WARN", "ERROR"}},
		"error":      {"error", []string{"ERROR"}},
		"upper case": {"WARN", []string{"WARN", "ERROR"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log, err := telemetry.NewLogger(&out, test.level, "json", false)
			if err != nil {
				t.Fatal(err)
			}
			for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
				log.Log(t.Context(), level, "said")
			}
			if diff := cmp.Diff(test.want, levels(t, &out)); diff != "" {
				t.Errorf("levels written (-want +got):\n%s", diff)
			}
		})
	}
}

// levels reads the levels of JSON log lines.
func levels(t *testing.T, lines io.Reader) []string {
	t.Helper()
	var got []string
	for decoder := json.NewDecoder(lines); ; {
		var line struct {
			Level string `json:"level"`
		}
		if err := decoder.Decode(&line); errors.Is(err, io.EOF) {
			return got
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, line.Level)
	}
}

func TestNewLoggerFormats(t *testing.T) {
	tests := map[string]struct {
		format     string
		isTerminal bool
		want       string
	}{
		"text":                   {"text", false, "level=INFO msg=said key=value"},
		"json":                   {"json", true, `"level":"INFO","msg":"said","key":"value"}`},
		"default on a terminal":  {"", true, "level=INFO msg=said key=value"},
		"default for collectors": {"", false, `"level":"INFO","msg":"said","key":"value"}`},
		"upper case":             {"JSON", true, `"level":"INFO"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log, err := telemetry.NewLogger(&out, "", test.format, test.isTerminal)
			if err != nil {
				t.Fatal(err)
			}
			log.Info("said", "key", "value")
			if got := out.String(); !strings.Contains(got, test.want) {
				t.Errorf("line = %q, want %q in it", got, test.want)
			}
		})
	}
}

func TestNewLoggerErrors(t *testing.T) {
	tests := map[string]struct{ level, format, want string }{
		"level":            {"loud", "", "LOG_LEVEL=loud: expected debug, info, warn or error"},
		"level by offset":  {"info+1", "", "LOG_LEVEL=info+1: expected debug, info, warn or error"},
		"level by number":  {"-4", "", "LOG_LEVEL=-4: expected debug, info, warn or error"},
		"level with space": {"info ", "", "LOG_LEVEL=info : expected debug, info, warn or error"},
		"format":           {"", "xml", "LOG_FORMAT=xml: expected text or json"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := telemetry.NewLogger(io.Discard, test.level, test.format, false)
			if err == nil || err.Error() != test.want {
				t.Errorf("error = %v, want %s", err, test.want)
			}
		})
	}
}

func TestDurationsAreReadable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, err := telemetry.NewLogger(&out, "info", "json", false)
	if err != nil {
		t.Fatal(err)
	}
	log.Info("done", "took", 1500*time.Millisecond)
	if !strings.Contains(out.String(), `"took":"1.5s"`) {
		t.Errorf("logged %s, want the duration as a person writes it", &out)
	}
}

// TestLogsDoNothingToATerminal: slog's handlers leave DEL as it is, and that of JSON what begins a C1 control.
func TestLogsDoNothingToATerminal(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		log, err := telemetry.NewLogger(&out, "info", format, false)
		if err != nil {
			t.Fatal(err)
		}
		log.Info("refused", "a", "x\x7fy", "b", "x\u009b31my", "c", "x\u202ey", "d", "x\x1by")
		if strings.ContainsAny(out.String(), "\x7f\u009b\u202e\x1b") || strings.Count(out.String(), "\n") != 1 {
			t.Errorf("%s: logged %q", format, &out)
		}
	}
}
