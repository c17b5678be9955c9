package decode

import (
	"errors"

	"github.com/anabranch/anabranch/ingest/internal/timestamp"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// Import says of calls that they come out of files, and were sent long ago.
type Import struct {
	Drop      []string             // members that an archive has added to a call
	MessageID func(row int) string // of a call that has none; row counts from 0
	// Events says that they are events of ours: receivedAt stays what it was.
	Events bool
}

// ParseRows reads calls that stand alone, each of the type that it says itself. It keeps
// nothing of them. A row that is not one JSON text is left to Accept, which refuses it
// alone.
func (d *Decoder) ParseRows(rows [][]byte) {
	d.path, d.size, d.fault, d.calls = "", 0, faultNone, d.calls[:0]
	d.batch.reset()
	for _, row := range rows {
		d.size += len(row)
		d.reader.Reset(row)
		d.body = row
		c := d.next()
		err := d.parseCall(c)
		if err == nil {
			err = d.reader.End()
		}
		c.refused = rowViolation(err)
	}
}

func rowViolation(err error) *schemas.Violation {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, stablejson.ErrTooDeep):
		return &schemas.Violation{Code: schemas.CodeTooLarge, Message: err.Error()}
	default:
		return &schemas.Violation{Code: schemas.CodeInvalidJSON, Message: "expected one JSON object: " + err.Error()}
	}
}

// keepTimes leaves the event's time as it is. An archive has corrected timestamp by the
// clock of whoever sent the call, and what it says of when that was sent and received is
// about another receipt than this one.
func (p *press) keepTimes(o *stablejson.Object) {
	original := p.stamps.First(o.Get(keyOriginal))
	own := p.stamps.First(o.Get(keyTimestamp))
	if !own.Given {
		own = original
	}
	p.happened = own
	if !own.Given {
		own = timestamp.Stamp{Millis: p.receivedAt, Given: true}
	}
	p.setStamp(o, keyTimestamp, own)
	p.setStamp(o, keyOriginal, original)
	p.setStamp(o, keySentAt, p.stamps.First(o.Get(keySentAt)))
	received := timestamp.Stamp{Millis: p.receivedAt, Given: true}
	if before := p.stamps.First(o.Get(keyReceivedAt)); p.terms.Import.Events && before.Given {
		received = before
	}
	p.setStamp(o, keyReceivedAt, received)
}
