package workspace

import (
	"errors"
	"fmt"
)

// TriedDestinations is how many destinations everything was measured with and found
// well (docs/scaling.md).
const TriedDestinations = 1_000

// ErrCrowded means that a workspace has more destinations than the embedded broker
// was found well with.
var ErrCrowded = errors.New("too many destinations for the embedded broker")

// Crowded judges the number of destinations: beyond [TriedDestinations] it is an error
// on the embedded broker, which would not answer for half a minute at a time and start
// for as long, and elsewhere a warning; empty for what was tried.
func (s *Snapshot) Crowded(embedded bool) (warning string, err error) {
	n := len(s.destinations)
	switch {
	case n <= TriedDestinations:
		return "", nil
	case embedded:
		return "", fmt.Errorf("%w: %d, expected at most %d: with 10,000 it did not answer for 30 s; use a Kafka cluster (KAFKA_BROKERS), or split them over several installations", ErrCrowded, n, TriedDestinations)
	default:
		return fmt.Sprintf("%d destinations are more than the %d that were measured and work well: with 3,000 the first event to each was slow (165/s), with 10,000 an idle sink took a whole processor and delivered 29/s (docs/scaling.md)", n, TriedDestinations), nil
	}
}
