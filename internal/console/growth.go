package console

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/personas/ask"
)

// GrowthOf says of which audience the growth is wanted, and how far back.
type GrowthOf struct {
	Key  string
	Back time.Duration
}

// Growth is how an audience grew.
type Growth struct {
	*ask.Growth

	Cut bool // whether time ran out before all was read
}

func (b *Brokers) growth(ctx context.Context, of GrowthOf, say func(string)) (*Growth, error) {
	timed, cancel := context.WithTimeout(ctx, slow-enough)
	defer cancel()
	g, err := ask.GrowthOf(timed, b.ofUsers(say), of.Key, ago(time.Now(), of.Back))
	cut := g != nil && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	if cut {
		err = nil
	}
	return &Growth{g, cut}, err
}

// growthView is how an audience grew, as charts and as a table.
type growthView struct {
	progress

	Key, Since          string
	Backs               []option
	Now, Entered, Left  string
	Reach               string // how far back it is known
	Cut                 bool
	Largest             string // size of all steps
	Sizes, Ins, Outs    []column
	Width               int // of the charts, in units
	SizeLabel, InsLabel string
	Rows                []stepRow // the last one first
}

// column is one of a chart that is 100 units high.
type column struct{ X, Y, Height int }

// stepRow is an hour, a quarter of a day or a day.
type stepRow struct{ From, Entered, Left, Size string }

// growth shows how an audience grew.
func (c *Console) growth(v *visit) (*content, error) {
	key, err := v.ofSearch("key", "the key of an audience", true)
	if err != nil {
		return nil, err
	}
	view := growthView{Key: key, Backs: backs()}
	of := GrowthOf{Key: key}
	if view.Since, of.Back, err = v.back(); err != nil {
		return nil, err
	}
	a := c.asked.personas.growth.Ask(v.Context(), of)
	view.progress = progressOf(&a, v.now)
	if a.Known() {
		view.fill(a.Value)
	}
	return &content{title: "Size of " + key + " over time", again: again(&a, 0), view: view}, nil
}

func (w *growthView) fill(g *Growth) {
	count := terminal.Count
	w.Now, w.Entered, w.Left, w.Reach, w.Cut = count(g.Size), count(g.Entered), count(g.Left), g.Reach(), g.Cut
	n := len(g.Steps)
	sizes, ins, outs := make([]int64, n), make([]int64, n), make([]int64, n)
	for i, s := range g.Steps {
		sizes[i], ins[i], outs[i] = s.Size, s.Entered, s.Left
		w.Rows = append(w.Rows, stepRow{terminal.Moment(s.From), count(s.Entered), count(s.Left), count(s.Size)})
	}
	slices.Reverse(w.Rows)
	if len(sizes) == 0 {
		return
	}
	largest := slices.Max(sizes)
	w.Width, w.Largest = len(sizes)*columnWidth, count(largest)
	w.Sizes = columns(sizes, largest, chartHeight, 0)
	most := max(slices.Max(ins), slices.Max(outs))
	w.Ins, w.Outs = columns(ins, most, chartHeight/2, 0), columns(outs, most, chartHeight/2, chartHeight/2)
	w.SizeLabel = "Size: " + count(sizes[0]) + " at first, " + count(sizes[len(sizes)-1]) + " at last, " + w.Largest + " at most"
	w.InsLabel = w.Entered + " entered, " + w.Left + " left, " + count(most) + " at most in one step"
}

// Units of a chart. A column has one of them as a gap.
const (
	chartHeight = 100
	columnWidth = 10
)

// columns are those of values of which none is larger than most: they stand on the ground of a
// band, or hang from its top where that is not the chart's.
func columns(values []int64, most int64, high, top int) []column {
	all := make([]column, len(values))
	for i, value := range values {
		one := column{X: i * columnWidth, Y: top}
		if value > 0 {
			one.Height = max(1, int(float64(value)/float64(most)*float64(high)))
		}
		if top == 0 {
			one.Y = high - one.Height
		}
		all[i] = one
	}
	return all
}
