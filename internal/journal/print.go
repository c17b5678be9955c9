package journal

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/seen/digest"
	"github.com/anabranch/anabranch/schemas"
)

// Prints makes fingerprints of calls, 64 bits each. It belongs to one goroutine.
type Prints struct {
	calls *digest.Calls
	keyID uint32
}

// PrintsOf returns those under the id of the topic raw-events, as [topics.Admin.ID] tells
// it; empty where brokers know none.
func PrintsOf(topicID string) *Prints {
	calls := digest.Of(topicID)
	return &Prints{calls: calls, keyID: calls.KeyID()}
}

// FindPrints returns those of the topic raw-events that there is now.
func FindPrints(ctx context.Context, of *topics.Admin) (*Prints, error) {
	id, err := of.ID(ctx, schemas.TopicRawEvents)
	if err == nil && id == "" {
		// Of a topic that a broker does not know yet nothing may be concluded.
		var n int
		if n, err = of.Partitions(ctx, schemas.TopicRawEvents); err == nil && n == 0 {
			err = fmt.Errorf("topic %s is not there", schemas.TopicRawEvents)
		}
	}
	if err != nil {
		return nil, err
	}
	return PrintsOf(id), nil
}

// KeyID names the key, as records of the journal do.
func (p *Prints) KeyID() uint32 { return p.keyID }

// Of returns the fingerprint of the call that a record is of, on whichever topic it
// stands: by its key and its headers. What it lacks of them is taken for empty.
func (p *Prints) Of(rec *kgo.Record) uint64 { return p.calls.Any(rec).High() }
