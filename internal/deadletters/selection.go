package deadletters

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// Selection says which dead letters are meant: those with the IDs, or those that
// fulfil all of the other fields that are set. Its zero value is all.
type Selection struct {
	IDs         []ID
	Destination string
	Reason      schemas.Reason
	Since       time.Time // given up then or later
}

// Validate reports what no dead letter can fulfil.
func (s *Selection) Validate() error {
	var errs []error
	if s.Destination != "" && !schemas.ValidID(s.Destination) {
		errs = append(errs, fmt.Errorf("--destination=%s: expected the id of a destination, 1 to %d lower-case letters, digits and hyphens", s.Destination, schemas.MaxIDBytes))
	}
	if s.Reason != "" && !slices.Contains(schemas.Reasons(), s.Reason) {
		errs = append(errs, fmt.Errorf("--reason=%s: expected one of %v", s.Reason, schemas.Reasons()))
	}
	if len(s.IDs) > 0 && s.filters() {
		errs = append(errs, errors.New("expected either ids or --destination, --reason and --since, found both"))
	}
	return errors.Join(errs...)
}

// All reports whether nothing is left out.
func (s *Selection) All() bool { return len(s.IDs) == 0 && !s.filters() }

func (s *Selection) filters() bool {
	return s.Destination != "" || s.Reason != "" || !s.Since.IsZero()
}

// matches decides by the headers alone, and by all but the IDs.
func (s *Selection) matches(l *Letter) bool {
	return (s.Destination == "" || s.Destination == l.Headers.Destination) &&
		(s.Reason == "" || s.Reason == l.Headers.Reason) &&
		!l.FailedAt().Before(s.Since)
}
