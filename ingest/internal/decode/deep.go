package decode

import (
	"github.com/anabranch/anabranch/ingest/internal/decode/internal/rawtext"
)

// parseDeep gives a batch that was refused with err for its nesting another
// try, with everything too deep cut out of body: one such call must not cost the
// others (protocol, 7). A cut outside the calls stays an error.
func (d *Decoder) parseDeep(body []byte, err error) error {
	cuts := rawtext.CutDeep(body)
	if len(cuts) == 0 {
		return err
	}
	if again := d.walk(body); again != nil {
		return again
	}
	for i := range d.calls {
		c := &d.calls[i]
		for len(cuts) > 0 && cuts[0] >= c.from && cuts[0] < c.from+c.bytes {
			c.deep = true
			cuts = cuts[1:]
		}
	}
	if len(cuts) > 0 {
		return err
	}
	return nil
}
