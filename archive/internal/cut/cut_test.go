package cut

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// world is one partition, its group and its store, and the processes that have it one after
// the other.
type world struct {
	*rand.Rand
	log     []entry // by offset
	now     time.Time
	group   Mark
	current int      // generation
	late    []commit // that were sent and not answered
	store   map[string]string
	broken  string
}

// entry is a record, or a marker between them.
type entry struct {
	Record
	marker bool
	line   string
}

// commit is of a generation: the group refuses it when that is over.
type commit struct {
	generation int
	mark       Mark
}

// process has the partition, or believes so.
type process struct {
	*Partition
	w          *world
	limits     Limits
	generation int
	over       bool
}

func (w *world) join() *process {
	w.current++
	return &process{
		Partition: Begin(w.group), w: w, generation: w.current,
		// Settings may have been changed in between.
		limits: Limits{Bytes: 1 + w.IntN(40), Age: time.Duration(1+w.IntN(5)) * time.Minute, Objects: 1 + w.IntN(3)},
	}
}

func (w *world) grow() {
	for range w.IntN(6) {
		at := int64(len(w.log))
		e := entry{marker: w.IntN(5) == 0, line: fmt.Sprintf("%d %s\n", at, bytes.Repeat([]byte{'x'}, w.IntN(12)))}
		e.Record = Record{Offset: at, Bytes: len(e.line), Object: fmt.Sprintf("s%d/d%d", w.IntN(3), at/20), At: w.now.Add(-time.Duration(w.IntN(60)) * time.Second)}
		w.log = append(w.log, e)
	}
}

// commit reports whether the group took a commit, and whether the process knows.
func (p *process) commit(m Mark) (taken, known bool) {
	c := commit{p.generation, m}
	switch p.w.IntN(12) {
	case 0: // lost on the way back
		p.w.take(c)
		return true, false
	case 1: // on its way still
		p.w.late = append(p.w.late, c)
		return false, false
	}
	return p.w.take(c), true
}

func (w *world) take(c commit) bool {
	if c.generation != w.current {
		return false
	}
	w.group = c.mark
	return true
}

// write writes the objects of a range, or some of them.
func (p *process) write(m Mark) (all bool) {
	bodies := make(map[string]string)
	for _, e := range p.w.log[m.From:m.To] {
		if !e.marker {
			bodies[fmt.Sprintf("%s/%d-%d", e.Object, m.From, m.To)] += e.line
		}
	}
	for _, name := range slices.Sorted(maps.Keys(bodies)) {
		if p.w.IntN(8) == 0 {
			return false
		}
		if before, there := p.w.store[name]; there && before != bodies[name] {
			p.w.broken = fmt.Sprintf("%s was %q and is %q", name, before, bodies[name])
		}
		p.w.store[name] = bodies[name]
	}
	return true
}

// step does one thing, whatever comes next.
func (p *process) step() {
	if p.IntN(3) == 0 && p.Next() < int64(len(p.w.log)) {
		for range 1 + p.IntN(10) {
			next := p.Next()
			if next >= int64(len(p.w.log)) {
				break
			}
			if e := &p.w.log[next]; !e.marker {
				p.Read(e.Record, &p.limits, p.w.now)
			}
			p.Reach(next+1, int64(len(p.w.log)))
		}
	}
	p.Tick(&p.limits, p.w.now)
	switch task := p.Task(); task.Step {
	case Rest:
	case Write:
		if p.write(task.Mark) {
			p.Done(task)
		}
	case Announce, Finish:
		taken, known := p.commit(task.Mark)
		switch {
		case !known:
			p.over = true // the group needs a new generation
		case taken:
			p.Done(task)
		default:
			p.over = true
		}
	}
}

func (p *process) IntN(n int) int { return p.w.IntN(n) }

// TestKilledAnywhere: whatever ends a process between any two of its steps, commits that come
// late, processes that have lost the partition and go on writing, and other limits each time:
// each line is in one object, once, and an object that is written again is the same.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 1)), now: time.Unix(1_700_000_000, 0), store: make(map[string]string)}
		running := []*process{w.join()}
		for range 150 {
			w.grow()
			w.now = w.now.Add(time.Duration(w.IntN(60)) * time.Second)
			switch n := w.IntN(40); {
			case n == 0: // killed
				running = append(running[:len(running)-1], w.join())
			case n == 1: // it has lost the partition, and does not know
				running = append(running, w.join())
			case n == 2 && len(w.late) > 0:
				w.take(w.late[0])
				w.late = w.late[1:]
			}
			for i, p := range running {
				p.step()
				if p.over && i == len(running)-1 {
					running[i] = w.join()
				}
			}
		}
		last := w.join()
		w.finish(last)
		w.check(t, seed)
	}
}

func (w *world) finish(p *process) {
	w.now = w.now.Add(time.Hour)
	for w.group.From < int64(len(w.log)) || w.group.Announced() {
		if p.over {
			p = w.join()
		}
		p.step()
	}
}

func (w *world) check(t *testing.T, seed uint64) {
	t.Helper()
	if w.broken != "" {
		t.Fatalf("seed %d: %s", seed, w.broken)
	}
	times := make(map[string]int)
	for _, body := range w.store {
		for line := range bytes.Lines([]byte(body)) {
			times[string(line)]++
		}
	}
	for _, e := range w.log {
		if want := map[bool]int{false: 1, true: 0}[e.marker]; times[e.line] != want {
			t.Fatalf("seed %d: the line of offset %d is there %d times, want %d", seed, e.Offset, times[e.line], want)
		}
	}
}

func TestWhenARangeIsClosed(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	l := Limits{Bytes: 100, Age: 5 * time.Minute, Objects: 2}
	rec := func(offset int64, bytes int, object string, age time.Duration) Record {
		return Record{Offset: offset, Bytes: bytes, Object: object, At: now.Add(-age)}
	}
	for name, c := range map[string]struct {
		read   []Record
		stable int64
		later  time.Duration
		want   []int64
	}{
		"nothing":                     {nil, 5, time.Hour, nil},
		"room":                        {[]Record{rec(0, 40, "a", 0), rec(1, 40, "a", 0)}, 2, time.Minute, nil},
		"full":                        {[]Record{rec(0, 40, "a", 0), rec(1, 60, "a", 0)}, 2, 0, []int64{2}},
		"no room for one more":        {[]Record{rec(0, 40, "a", 0), rec(1, 61, "a", 0)}, 2, 0, []int64{1}},
		"one that is too large alone": {[]Record{rec(0, 400, "a", 0), rec(1, 10, "a", 0)}, 2, 0, []int64{1}},
		"too many objects":            {[]Record{rec(0, 1, "a", 0), rec(1, 1, "b", 0), rec(2, 1, "c", 0)}, 3, 0, []int64{2}},
		"old":                         {[]Record{rec(0, 1, "a", 6*time.Minute)}, 1, 0, []int64{1}},
		"old, with more to be read":   {[]Record{rec(0, 1, "a", 6*time.Minute)}, 9, 0, nil},
		"open for long":               {[]Record{rec(0, 1, "a", 0)}, 9, 5 * time.Minute, []int64{1}},
		"by a clock that is ahead":    {[]Record{rec(0, 1, "a", -time.Hour)}, 1, 5 * time.Minute, []int64{1}},
	} {
		p := Begin(Mark{})
		for _, r := range c.read {
			p.Read(r, &l, now)
		}
		p.Reach(int64(len(c.read)), c.stable)
		p.Tick(&l, now.Add(c.later))
		var cuts []int64
		for _, end := range p.cuts {
			cuts = append(cuts, end.offset)
		}
		if !slices.Equal(cuts, c.want) {
			t.Errorf("%s: cuts %v, want %v", name, cuts, c.want)
		}
	}
}

// TestMarkersAlone are committed past: behind them nothing waits.
func TestMarkersAlone(t *testing.T) {
	t.Parallel()
	p := Begin(Mark{From: 3})
	p.Reach(5, 5)
	if got, want := p.Task(), (Task{Finish, Mark{From: 5}}); got != want {
		t.Fatalf("%v, want %v", got, want)
	}
	task := p.Task()
	l := Limits{Bytes: 1, Age: time.Minute, Objects: 1}
	p.Read(Record{Offset: 5, Bytes: 9}, &l, time.Now()) // while it is committed
	p.Done(task)
	if got, want := p.Task(), (Task{Announce, Mark{5, 6}}); got != want {
		t.Errorf("then %v, want %v", got, want)
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	id := TopicID{1, 2, 15: 255}
	for _, m := range []Mark{{}, {From: 7}, {From: 7, To: 12}} {
		if got, of, err := Parse(m.From, m.Metadata(id)); got != m || of != id || err != nil {
			t.Errorf("%v of %x, %v, want %v of %x", got, of, err, m, id)
		}
	}
	if m, of, err := Parse(9, ""); err != nil || m != (Mark{From: 9}) || of != (TopicID{}) {
		t.Errorf("without metadata: %v of %x, %v", m, of, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(int64(7), Mark{7, 9}.Metadata(TopicID{1}))
	f.Add(int64(9), Mark{7, 9}.Metadata(TopicID{1}))
	f.Add(int64(0), "1 topic=00 to=4")
	f.Add(int64(0), "2 topic=")
	f.Fuzz(func(t *testing.T, committed int64, metadata string) {
		m, of, err := Parse(committed, metadata)
		if m.From != committed || err != nil && m.Announced() || m.To != 0 && m.To <= committed {
			t.Errorf("%q at %d: %v, %v", metadata, committed, m, err)
		}
		if again, id, failed := Parse(m.From, m.Metadata(of)); failed != nil || again != m || id != of {
			t.Errorf("%v of %x is read as %v of %x, %v", m, of, again, id, failed)
		}
	})
}
