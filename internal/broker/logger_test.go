package broker

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
)

func TestLoggerLevels(t *testing.T) {
	tests := map[string]struct {
		level  kfake.LogLevel
		format string
		want   string
	}{
		"error":       {kfake.LogLevelError, "persist to disk: %v", "level=ERROR"},
		"warning":     {kfake.LogLevelWarn, "persist batch: %v", "level=WARN"},
		"information": {kfake.LogLevelInfo, "consumerJoin: %v", "level=DEBUG"},
		"debug":       {kfake.LogLevelDebug, "request: %v", "level=DEBUG"},
		"slow commit": {kfake.LogLevelWarn, "txn: EndTxn slow pid=%d", "level=DEBUG"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
			logger{log}.Logf(test.level, test.format, 17)
			if got := out.String(); !strings.Contains(got, test.want) || !strings.Contains(got, "17") {
				t.Errorf("line = %q, want %s and the arguments", got, test.want)
			}
		})
	}
}

// unprintable fails the test that formats it.
type unprintable struct{ t *testing.T }

func (u unprintable) String() string {
	u.t.Error("formatted although nobody reads it")
	return ""
}

func TestLoggerFormatsOnlyWhatIsRead(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	logger{log}.Logf(kfake.LogLevelDebug, "request %v", fmt.Stringer(unprintable{t}))
	if out.Len() > 0 {
		t.Errorf("log = %q, want nothing below its level", out.String())
	}
}
