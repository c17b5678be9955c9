package answer

import (
	"errors"
	"slices"
	"testing"
)

// TestStatusesAreComplete shows that what is counted by status has a series.
func TestStatusesAreComplete(t *testing.T) {
	for _, p := range []*Problem{
		NotFound(), MethodNotAllowed(), UnknownCoding(), NotGzip(nil), WrongKey(), TooManyEvents(1), TooManyWrongKeys(1),
		Incomplete(nil), TooLong(1, true), TooLong(1, false), NoneAccepted(refusals(), true), Of(errors.New("no leader")),
	} {
		if !slices.Contains(Statuses(), p.Status) {
			t.Errorf("%d %s is not among the statuses", p.Status, p.Code)
		}
	}
}
