package securitytest

import (
	"bytes"
	"strings"
	"sync"
)

// screen is written to by a process while the test reads it.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer

	enough string // what then is called for; empty: nothing
	then   func()
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.enough != "" && strings.Contains(string(p), s.enough) {
		s.then()
	}
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
