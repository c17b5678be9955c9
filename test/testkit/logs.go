package testkit

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

// Logs collects what a program under test writes, from any goroutine, while the test
// reads it. Its zero value is empty and ready to use.
type Logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write takes in text.
func (l *Logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns all of it.
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
