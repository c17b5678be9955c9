package testkit

import (
	"fmt"
	"runtime"
	"testing"
)

// spy is a testing.TB whose failures and skips are what is being tested.
type spy struct {
	testing.TB
	verdict string
}

func (s *spy) Helper() {}

func (s *spy) Fatalf(format string, args ...any) { s.end("fatal: " + fmt.Sprintf(format, args...)) }

func (s *spy) Errorf(format string, args ...any) {
	s.verdict = "error: " + fmt.Sprintf(format, args...)
}

func (s *spy) Fatal(args ...any) { s.end("fatal: " + fmt.Sprint(args...)) }

func (s *spy) Skip(args ...any) { s.end("skip: " + fmt.Sprint(args...)) }

func (s *spy) end(verdict string) {
	s.verdict = verdict
	runtime.Goexit()
}

// verdictOf runs test with a spy until it returns or gives up and returns how it
// gave up, empty when it did not.
func verdictOf(t *testing.T, test func(tb *spy)) string {
	t.Helper()
	s := &spy{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(s)
	}()
	<-done
	return s.verdict
}
