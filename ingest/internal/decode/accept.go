package decode

import (
	"strconv"

	"github.com/anabranch/anabranch/ingest/internal/timestamp"
	"github.com/anabranch/anabranch/schemas"
)

// Refusal says why one call of a request is not accepted.
type Refusal struct {
	Index     int    // of the call in its batch, from 0
	MessageID string // the client's, cut; empty when it gave none
	schemas.Violation
}

// WriteKey returns the write key that the body parsed last holds, "" when it
// has none. In a batch it is that of the batch: the calls have no say.
func (d *Decoder) WriteKey() string { return d.batch.writeKey }

// Accept judges every call of the body that Parse has read and completes the
// good ones on the given terms; Events has them then, and Blocked those that the
// review did not let through. A bad call costs the others nothing, and when no
// call was good that is no error here.
//
// The error is a *schemas.Violation of the request as a whole, by rule 7 of the
// protocol or because its calls grow beyond all measure by what is merged into
// them: nothing of it may be stored.
func (d *Decoder) Accept(t Terms) ([]Refusal, error) {
	d.press.reset(&t)
	defer d.press.release()
	if violation := d.check(); violation != nil {
		return nil, violation
	}
	var rejected []Refusal
	for i := range d.calls {
		c := &d.calls[i]
		d.press.row = i
		violation := d.press.complete(c, d.path, &d.batch)
		if d.press.written > MaxRequestBytes {
			return nil, tooLarge("with its context in each event the batch is longer than %d bytes: send it in parts", MaxRequestBytes)
		}
		if violation != nil {
			rejected = append(rejected, Refusal{i, c.claimedID(), *violation})
		}
	}
	return rejected, nil
}

func (d *Decoder) check() *schemas.Violation {
	switch {
	case d.fault == faultNoObject:
		return &schemas.Violation{Code: schemas.CodeInvalidJSON, Message: "the body is not a JSON object"}
	case d.fault == faultTooMany:
		return &schemas.Violation{Code: schemas.CodeTooManyEvents, Message: "the batch has more than " + strconv.Itoa(schemas.MaxBatchEvents) + " events"}
	case d.fault == faultNoArray || len(d.calls) == 0:
		return &schemas.Violation{Code: schemas.CodeEmptyBatch, Message: "the body has no events: expected an array of them under the key batch"}
	default:
		return nil
	}
}

// Events returns what Accept has accepted, in the order of the calls.
func (d *Decoder) Events() Events { return d.press.accepted }

// Blocked returns what the review has blocked, in the order of the calls.
func (d *Decoder) Blocked() Blocked { return d.press.blocked }

// Suppressed returns how many good calls were left out because their user is
// suppressed.
func (d *Decoder) Suppressed() int { return d.press.suppressed }

// IdentityBlocked returns how many of the events and blocked calls have an id that
// stands for nobody (Terms.BlockedIDs).
func (d *Decoder) IdentityBlocked() int { return d.press.nobody }

// Unreadable returns how many time stamps Accept found that could not be read.
func (d *Decoder) Unreadable() int { return d.press.stamps.Unreadable }

// Skew returns what Accept found about the clock that sent the calls.
func (d *Decoder) Skew() timestamp.Skew { return d.press.skew }
