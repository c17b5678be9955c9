package command

import "errors"

// exit is an error that ends the process with a code of its own.
type exit struct {
	error

	code int
}

// Unwrap returns the error itself.
func (e *exit) Unwrap() error { return e.error }

// exiting gives an error a code, unless it has one.
func exiting(err error, code int) error {
	if _, coded := errors.AsType[*exit](err); err == nil || code == 0 || coded {
		return err
	}
	return &exit{err, code}
}

// ExitCode is what the process ends with after an error: 1 where nothing else was said.
func ExitCode(err error) int {
	if e, coded := errors.AsType[*exit](err); coded {
		return e.code
	}
	return 1
}
