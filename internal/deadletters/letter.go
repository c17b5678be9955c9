package deadletters

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

// Letter is one dead letter.
type Letter struct {
	ID         ID
	Record     *kgo.Record // as it stands in dead-letters
	Headers    schemas.Headers
	Unreadable error     // why Headers could not be read; they hold what could be
	RedrivenAt time.Time // when it was last sent again; zero: never
	Arrived    bool      // what was sent again is where its destination wants it: on a topic
}

func newLetter(r *kgo.Record) *Letter {
	l := &Letter{ID: ID{r.Partition, r.Offset}, Record: r}
	l.Headers, l.Unreadable = kafka.HeadersOf(r)
	return l
}

// FailedAt is when the event was given up.
func (l *Letter) FailedAt() time.Time {
	if l.Headers.FailedAt.IsZero() {
		return l.Record.Timestamp.UTC()
	}
	return l.Headers.FailedAt
}
