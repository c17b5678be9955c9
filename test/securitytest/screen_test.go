package securitytest

import (
	"strings"

	"github.com/anabranch/anabranch/test/testkit"
)

// screen is a log that calls for something as soon as it holds a text.
type screen struct {
	testkit.Logs

	enough string // empty: never
	then   func()
}

func (s *screen) Write(p []byte) (int, error) {
	if s.enough != "" && strings.Contains(string(p), s.enough) {
		s.then()
	}
	return s.Logs.Write(p)
}
