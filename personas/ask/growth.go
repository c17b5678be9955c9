package ask

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
)

// Growth is how an audience grew and shrank, by what was told of it. So it is the same
// whoever asks, whatever was started again meanwhile, and goes back as far as raw-events.
type Growth struct {
	Key  string    `json:"key"`
	From time.Time `json:"from"` // later than was asked for where no more was read, or is there
	To   time.Time `json:"to"`
	Size int64     `json:"size"` // at the end
	// Entered and Left are changes that were told, those of a resync left out.
	Entered int64  `json:"entered"`
	Left    int64  `json:"left"`
	Steps   []Step `json:"steps"` // the oldest first
	// Deleted says that retention has deleted what came before From.
	Deleted bool `json:"deleted,omitempty"`
}

// Step is a part of the time of a [Growth], of the same length as the others. The first and
// the last one may be shorter.
type Step struct {
	From    time.Time `json:"from"`
	Entered int64     `json:"entered"`
	Left    int64     `json:"left"`
	// Size is how many users were members at its end: those at the end of all less what was
	// told since. Users who were deleted meanwhile, or merged into others, are not known of.
	Size int64 `json:"size"`
}

// MostGrowth is how far back a growth goes at most.
const MostGrowth = 366 * 24 * time.Hour

// StepOf is how long the steps of a time are: an hour, a quarter of a day or a day.
func StepOf(back time.Duration) time.Duration {
	switch {
	case back <= 2*day:
		return time.Hour
	case back <= 8*day:
		return day / 4
	default:
		return day
	}
}

// GrowthOf reads how an audience grew since a time. The error is an [Unknown] where there is
// no such audience. Where ctx ends before all was read, what was read completely by then is
// returned with the error, unless that is nothing.
func GrowthOf(ctx context.Context, log *Log, key string, since time.Time) (*Growth, error) {
	to := time.Now().UTC().Truncate(time.Second)
	if back := to.Sub(since); back <= 0 || back > MostGrowth {
		return nil, fmt.Errorf("since %s: expected a time of the past, %d days ago at most", terminal.Moment(since), MostGrowth/day)
	}
	d, err := log.Workspace.find(key)
	if err == nil && d.Kind != engine.ClassAudience {
		err = &Unknown{Kind: "audience", Name: key}
	}
	if err != nil {
		return nil, err
	}
	all, err := details(ctx, log, []Definition{*d})
	if err != nil {
		return nil, err
	}
	begins, err := log.begins(ctx)
	if err != nil {
		return nil, err
	}
	g := &Growth{Key: key, From: to, To: to, Size: all[0].Size}
	if g.Deleted = begins.After(since); g.Deleted {
		since = begins
	}
	read, err := log.growth(ctx, g, since.UTC())
	if len(read) == 0 && err != nil {
		return nil, err
	}
	g.fill(read)
	return g, err
}

// stretch is what was told in a step, from its beginning on.
type stretch struct {
	from time.Time
	told map[change]int64
}

// change is what is counted by itself: a change may be told by two calls.
type change struct {
	version int
	call    schemas.Type
	member  bool
}

// growth reads step by step what was told of an audience, the last one first, and notes how
// far back it has come.
func (l *Log) growth(ctx context.Context, g *Growth, since time.Time) (read []stretch, err error) {
	step := StepOf(g.To.Sub(since))
	text := fmt.Appendf(nil, `"computation_key":%q`, g.Key) // which is snake_case
	of, err := l.ranges(ctx, schemas.TopicRawEvents, nil)
	if err != nil {
		return nil, err
	}
	for g.From.After(since) {
		if l.Progress != nil {
			l.Progress(int64(len(read)), int64(g.To.Sub(since)/step)+1)
		}
		one := stretch{latestOf(since, g.From.Add(-time.Nanosecond).Truncate(step)), make(map[change]int64)}
		started, err := l.rangesSince(ctx, schemas.TopicRawEvents, nil, one.from)
		if err != nil {
			return read, err
		}
		part := make(map[int32]ranges.Range, len(of))
		for num, r := range of {
			part[num] = ranges.Range{Start: min(max(started[num].Start, r.Start), r.End), End: r.End}
			of[num] = ranges.Range{Start: r.Start, End: part[num].Start}
		}
		err = ranges.Scan(ctx, l.Topics.Client, ranges.Spans(schemas.TopicRawEvents, part), [][]byte{text}, func(r *kgo.Record) error {
			if !bytes.Contains(r.Value, text) {
				return nil
			}
			return one.take(r, g.Key)
		})
		if err != nil {
			return read, err
		}
		read, g.From = append(read, one), one.from
	}
	return read, nil
}

func latestOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// take counts a call that may tell a change of an audience.
func (s *stretch) take(r *kgo.Record, key string) error {
	told, ok, err := toldBy(r)
	if err != nil || !ok || told.Key != key || told.Kind != engine.ClassAudience || told.Cause == string(engine.CauseResync) {
		return err
	}
	h, _ := kafka.HeadersOf(r) // toldBy has read them
	s.told[change{told.Version, h.Type, string(told.Value) == "true"}]++
	return nil
}

// fill makes steps of what was told, the last one first.
func (g *Growth) fill(read []stretch) {
	tracked := make(map[int]bool) // versions whose changes are told by track calls, and maybe by others too
	for _, s := range read {
		for c := range s.told {
			tracked[c.version] = tracked[c.version] || c.call == schemas.TypeTrack
		}
	}
	g.Steps = make([]Step, len(read))
	size := g.Size
	for i, s := range read {
		one := Step{From: s.from, Size: max(size, 0)}
		for c, n := range s.told {
			switch {
			case tracked[c.version] != (c.call == schemas.TypeTrack):
			case c.member:
				one.Entered += n
			default:
				one.Left += n
			}
		}
		size += one.Left - one.Entered
		g.Steps[len(read)-1-i] = one
		g.Entered, g.Left = g.Entered+one.Entered, g.Left+one.Left
	}
}

// Reach says how far back the growth is known, and where not further why.
func (g *Growth) Reach() string {
	if g.Deleted {
		return "since " + terminal.Moment(g.From) + ": raw-events holds nothing earlier"
	}
	return "since " + terminal.Moment(g.From)
}

// PrintGrowth prints a line for each step, and the sums.
func PrintGrowth(w io.Writer, g *Growth) error {
	rows := make([][]string, 0, 1+len(g.Steps))
	rows = append(rows, []string{"FROM", "ENTERED", "LEFT", "SIZE"})
	for _, s := range g.Steps {
		rows = append(rows, []string{terminal.Moment(s.From), terminal.Count(s.Entered), terminal.Count(s.Left), terminal.Count(s.Size)})
	}
	if err := terminal.Table(w, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s entered and %s left, %s\n", terminal.Count(g.Entered), terminal.Count(g.Left), g.Reach())
	return err
}
