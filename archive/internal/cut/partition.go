package cut

import "time"

// Partition is one partition on its way through its log. It is made by [Begin], and used by
// one goroutine at a time.
type Partition struct {
	mark    Mark    // as the group has it
	written bool    // the range that the mark announces is stored
	cuts    []end   // of ranges that are closed and not done, the first one's begins at mark.From
	next    int64   // to be read
	stable  int64   // up to where there is something to be read, as far as is known
	open    measure // of what was read since the last cut
}

// end is where a range ends, and when its first record was written; zero: nobody knows.
type end struct {
	offset int64
	oldest time.Time
}

// Begin returns a partition that goes on where the group's mark is.
func Begin(m Mark) *Partition {
	p := &Partition{mark: m, next: m.From}
	if m.Announced() {
		p.cuts, p.next = []end{{offset: m.To}}, m.To
	}
	return p
}

// Next is the offset from which the partition is to be read.
func (p *Partition) Next() int64 { return p.next }

// Mark is what the group has.
func (p *Partition) Mark() Mark { return p.mark }

// Oldest is when the first record was written that was read and is not stored; zero: there
// is none, or nobody knows.
func (p *Partition) Oldest() time.Time {
	if len(p.cuts) > 0 {
		return p.cuts[0].oldest
	}
	return p.open.oldest
}

// Busy reports whether ranges are closed and not done: there is no need to read on.
func (p *Partition) Busy() bool { return len(p.cuts) > 0 }

// Read measures a record, which has to lie behind those before it.
func (p *Partition) Read(r Record, l *Limits, now time.Time) {
	if r.Offset < p.next {
		return
	}
	if !p.open.fits(&r, l) {
		p.cut()
	}
	p.open.add(&r, now)
	p.next = r.Offset + 1
	if p.open.bytes >= l.Bytes {
		p.cut()
	}
}

// Reach notes that a fetch has come to an offset, next, with what may be markers of
// transactions before it, and that there is something to be read up to stable.
func (p *Partition) Reach(next, stable int64) {
	p.next, p.stable = max(p.next, next), max(p.stable, stable)
}

// Tick closes what has waited for long enough.
func (p *Partition) Tick(l *Limits, now time.Time) {
	if p.open.ripe(l, now, p.next >= p.stable) {
		p.cut()
	}
}

// cut closes the range that is open, before the next record to be read.
func (p *Partition) cut() {
	p.cuts = append(p.cuts, end{p.next, p.open.oldest})
	p.open.reset()
}

// Step is what is to be done next.
type Step uint8

// The steps of a range, in their order.
const (
	Rest     Step = iota // nothing is to be done
	Announce             // commit Task.Mark: the range that is written next
	Write                // write the objects of Task.Mark
	Finish               // commit Task.Mark: all before is stored
)

// Task is a step, and what it is about.
type Task struct {
	Step Step
	Mark Mark
}

// Task returns what is to be done next. It is the same until it is [Partition.Done].
func (p *Partition) Task() Task {
	switch {
	case len(p.cuts) == 0 && p.open.records == 0 && p.next > p.mark.From:
		return Task{Finish, Mark{From: p.next}} // markers of transactions, and what was aborted
	case len(p.cuts) == 0:
		return Task{}
	case !p.mark.Announced():
		return Task{Announce, Mark{p.mark.From, p.cuts[0].offset}}
	case !p.written:
		return Task{Write, p.mark}
	default:
		return Task{Finish, Mark{From: p.mark.To}}
	}
}

// Done notes that a task is done: what it commits is committed, what it writes durable.
func (p *Partition) Done(t Task) {
	switch t.Step {
	case Rest:
	case Announce:
		p.mark = t.Mark
	case Write:
		p.written = true
	case Finish:
		if p.mark.Announced() {
			p.cuts = p.cuts[1:]
		}
		p.mark, p.written = t.Mark, false
	}
}
