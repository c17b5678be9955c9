package imports

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/ingest/imports/internal/rows"
	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/ingest/internal/plan"
	"github.com/anabranch/anabranch/ingest/internal/store"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// rowsAtOnce and bytesAtOnce bound what is judged at once, well below what a decoder
	// takes of one request.
	rowsAtOnce  = 256
	bytesAtOnce = schemas.MaxBatchBytes

	// narrowed is the version of records whose Only narrows an imported call.
	narrowed = 2
)

// Counts is what became of rows.
type Counts struct {
	Rows       int64 `json:"rows"`
	Accepted   int64 `json:"accepted"` // with Refused all rows
	Refused    int64 `json:"refused"`
	Blocked    int64 `json:"blocked"`    // of those accepted: by the tracking plan, they are in dead-letters
	Suppressed int64 `json:"suppressed"` // of those accepted: of suppressed users, nothing is stored of them
	Undated    int64 `json:"undated"`    // of those accepted: they have no time that can be read, and happen now
}

func (c *Counts) add(more Counts) {
	c.Rows += more.Rows
	c.Accepted += more.Accepted
	c.Refused += more.Refused
	c.Blocked += more.Blocked
	c.Suppressed += more.Suppressed
	c.Undated += more.Undated
}

// Refusal is a row that can't be accepted.
type Refusal struct {
	Row    int64  `json:"row"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
	Text   string `json:"text,omitempty"`
}

// door takes rows in, some at a time.
type door struct {
	source string
	format rows.Format
	only   []string
	digest string // of the files; "" while it is not known
	terms  Terms
	now    func() time.Time

	decoder decode.Decoder
	plans   plan.Plans
	pending []pending
	calls   [][]byte
	text    []byte // of all that is pending
}

// pending is a row that is not judged yet, as offsets into the door's text.
type pending struct {
	row              int64
	file             string
	line             int
	text, call, ends int
	problem          string
}

// add keeps a row and reports whether it is time to judge.
func (d *door) add(r *rows.Row) (full bool) {
	p := pending{row: r.Number, file: r.File, line: r.Line, problem: r.Problem, text: len(d.text)}
	d.text = append(d.text, r.Text...)
	p.call = len(d.text)
	if r.Problem == "" && !bytes.Equal(r.Call, r.Text) {
		d.text = append(d.text, r.Call...)
	} else {
		p.call = p.text
	}
	p.ends = len(d.text)
	d.pending = append(d.pending, p)
	return len(d.pending) >= rowsAtOnce || len(d.text) >= bytesAtOnce
}

// verdict is what became of the rows that were pending.
type verdict struct {
	counts  Counts
	last    int64         // row
	read    int64         // bytes of the files up to it
	records []*kgo.Record // with those of dead-letters
	bytes   int
	refused []Refusal
	events  decode.Events // the accepted ones, until the door judges again
}

// judge judges what is pending.
func (d *door) judge() (v verdict, err error) {
	if len(d.pending) == 0 {
		return v, nil
	}
	v.last = d.pending[len(d.pending)-1].row
	good := make([]int, 0, len(d.pending)) // of what is pending, what has a call
	d.calls = d.calls[:0]
	for i := range d.pending {
		p := &d.pending[i]
		if p.problem != "" {
			v.refused = append(v.refused, d.refusal(p, p.problem))
			continue
		}
		good, d.calls = append(good, i), append(d.calls, d.text[p.call:p.ends])
	}
	if len(good) > 0 {
		err = d.accept(&v, good)
	}
	slices.SortFunc(v.refused, func(a, b Refusal) int { return cmp.Compare(a.Row, b.Row) })
	v.counts.Rows, v.counts.Refused = int64(len(d.pending)), int64(len(v.refused))
	v.counts.Accepted = v.counts.Rows - v.counts.Refused
	d.pending, d.text = d.pending[:0], d.text[:0]
	return v, err
}

func (d *door) accept(v *verdict, good []int) error {
	d.decoder.ParseRows(d.calls)
	ws := d.terms.Workspace
	terms := decode.Terms{
		ReceivedAt: d.now(),
		Review:     d.plans.Review(ws, d.source).Judge(),
		BlockedIDs: ws.BlockedIDs(d.source),
		Suppressed: d.terms.Suppressed,
		Import: &decode.Import{
			Drop:      d.format.Drop(),
			Events:    d.format == rows.Archive,
			MessageID: func(i int) string { return d.messageID(d.pending[good[i]].row) },
		},
	}
	refused, err := d.decoder.Accept(terms)
	if err != nil {
		return fmt.Errorf("rows %d to %d: %w", d.pending[0].row, v.last, err)
	}
	for _, r := range refused {
		v.refused = append(v.refused, d.refusal(&d.pending[good[r.Index]], string(r.Code)+": "+r.Message))
	}
	v.events = d.decoder.Events()
	for i := range v.events.Len() {
		if !v.events.At(i).Happened.Given {
			v.counts.Undated++
		}
	}
	v.counts.Blocked, v.counts.Suppressed = int64(d.decoder.Blocked().Len()), int64(d.decoder.Suppressed())
	batch := store.NewImport(d.source, v.events, func(e decode.Event, h *schemas.Headers) { d.head(e, h, terms.ReceivedAt) })
	batch.AddBlocked(d.source, d.decoder.Blocked(), terms.ReceivedAt)
	v.records, v.bytes = batch.AppendTo(nil), batch.Size()
	return nil
}

// head gives a record what no other call has.
func (d *door) head(e decode.Event, h *schemas.Headers, receivedAt time.Time) {
	h.Received = receivedAt
	if e.Happened.Given {
		h.Happened = time.UnixMilli(e.Happened.Millis)
	}
	if d.only != nil {
		h.Only, h.Version = d.only, narrowed
	}
}

// messageID is that of a row without one, the same whenever it is imported.
func (d *door) messageID(row int64) string {
	digest := d.digest
	if len(digest) > idDigits {
		digest = digest[:idDigits]
	}
	return fmt.Sprintf("import-%s-%d", digest, row)
}

// idDigits are enough of a digest to tell imports apart.
const idDigits = 32

func (d *door) refusal(p *pending, reason string) Refusal {
	behind := p.ends
	if p.call > p.text {
		behind = p.call
	}
	return Refusal{Row: p.row, File: p.file, Line: p.line, Reason: reason, Text: string(d.text[p.text:behind])}
}
