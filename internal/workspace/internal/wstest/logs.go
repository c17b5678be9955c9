package wstest

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

// Logs collects log lines. Its zero value is empty and ready to use.
type Logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write takes in text, from any goroutine.
func (l *Logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns all lines.
func (l *Logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Count returns how many lines hold text.
func (l *Logs) Count(text string) int {
	n := 0
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// Logger returns a logger that writes to l, on every level.
func (l *Logs) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
