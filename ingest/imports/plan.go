package imports

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/anabranch/anabranch/ingest/imports/internal/rows"
	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/ingest/internal/timestamp"
	"github.com/anabranch/anabranch/internal/terminal"
)

// samples is how many rows a plan shows before and after.
const samples = 5

// shownRefusals is how many refused rows a plan for people names.
const shownRefusals = 100

// Planning is what a plan works with.
type Planning struct {
	Input

	Load Load
	Out  io.Writer
	JSON bool
}

// Preview is what an import would do.
type Preview struct {
	Digest string `json:"digest"`
	File   string `json:"file"`
	Format string `json:"format"`
	Source string `json:"source"`
	Counts

	Types  map[string]int64 `json:"types"` // of those accepted, by type
	First  *time.Time       `json:"first,omitempty"`
	Last   *time.Time       `json:"last,omitempty"`
	Sample []Sample         `json:"sample"`
}

// Sample is a row as it stands in the file, and the event that it becomes.
type Sample struct {
	Row    int64           `json:"row"`
	Before string          `json:"before"`
	After  json.RawMessage `json:"after,omitempty"` // none of a row that is refused, blocked or of a suppressed user
}

// planner reads all rows once.
type planner struct {
	Planning
	Preview

	door  *door
	first timestamp.Stamp
	last  timestamp.Stamp
	wrote int64 // refusals
}

// Plan reads all rows once and says what would become of them. It writes nothing.
func Plan(ctx context.Context, set Planning) error {
	files, err := set.open()
	if err != nil {
		return err
	}
	terms, err := set.Load(ctx)
	if err != nil {
		return err
	}
	source, err := set.source(terms.Workspace)
	if err != nil {
		return err
	}
	p := &planner{
		Planning: set, Preview: Preview{File: files.Name, Format: string(files.Format), Source: source, Types: make(map[string]int64)},
		// The digest is known when all is read, and the id of a row shown before that.
		door: &door{source: source, format: files.Format, digest: "…", terms: terms, now: time.Now},
	}
	if p.JSON {
		if _, err = fmt.Fprint(p.Out, `{"refusals":[`); err != nil {
			return err
		}
	}
	p.Digest, err = files.Each(source, func(row *rows.Row) error { return p.take(ctx, row) })
	if err == nil {
		_, err = p.judge(ctx)
	}
	if err != nil {
		return err
	}
	return p.print()
}

// take keeps a row until some are judged together; the first ones are, each alone, and
// shown.
func (p *planner) take(ctx context.Context, row *rows.Row) error {
	full := p.door.add(row)
	if row.Number > samples {
		if full {
			_, err := p.judge(ctx)
			return err
		}
		return nil
	}
	s := Sample{Row: row.Number, Before: string(row.Text)}
	events, err := p.judge(ctx)
	if err == nil && events.Len() == 1 {
		s.After = json.RawMessage(append([]byte(nil), events.At(0).Value...))
	}
	p.Sample = append(p.Sample, s)
	return err
}

func (p *planner) judge(ctx context.Context) (decode.Events, error) {
	if err := context.Cause(ctx); err != nil {
		return decode.Events{}, err
	}
	v, err := p.door.judge()
	p.add(v.counts)
	for i := range v.events.Len() {
		e := v.events.At(i)
		p.Types[string(e.Type)]++
		p.date(e.Happened)
	}
	for i := range v.refused {
		if err == nil {
			err = p.refuse(&v.refused[i])
		}
	}
	return v.events, err
}

func (p *planner) date(s timestamp.Stamp) {
	if !s.Given {
		return
	}
	if !p.first.Given || s.Millis < p.first.Millis {
		p.first = s
	}
	if !p.last.Given || s.Millis > p.last.Millis {
		p.last = s
	}
}

// refuse names a row that would be refused as soon as it is found: there may be more of
// them than memory holds.
func (p *planner) refuse(r *Refusal) error {
	p.wrote++
	if !p.JSON {
		if p.wrote > shownRefusals {
			return nil
		}
		_, err := fmt.Fprintf(p.Out, "%s:%d: %s\n", terminal.Safe(r.File), r.Line, terminal.Safe(r.Reason))
		return err
	}
	r.Text = ""
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if p.wrote > 1 {
		text = append([]byte(","), text...)
	}
	_, err = p.Out.Write(text)
	return err
}

func (p *planner) print() error {
	if p.first.Given {
		first, last := time.UnixMilli(p.first.Millis).UTC(), time.UnixMilli(p.last.Millis).UTC()
		p.First, p.Last = &first, &last
	}
	if p.JSON {
		text, err := json.Marshal(p.Preview)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.Out, "],%s\n", text[1:])
		return err
	}
	return p.text(p.Out)
}
