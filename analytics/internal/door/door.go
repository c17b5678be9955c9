// Package door is what most callers see of a dispatcher: it lets messages in as far as
// there is room. Its lock is held for a few instructions at a time, so that callers do
// not wait for what is done with batches.
package door

import (
	"math"
	"slices"
	"sync"

	"github.com/anabranch/anabranch/analytics/internal/queue"
)

// Door has room for Room messages, whose bytes are those of memory. Both fields are set
// before it is used. It is safe for concurrent use.
type Door struct {
	Room queue.Load

	mu      sync.Mutex
	arrived []*queue.Message // let in, and not yet taken in
	used    queue.Load       // let in and not yet released
	shut    bool
	crowded bool       // callers wait for room, and are not to be passed
	quiet   queue.Load // how much more may arrive before somebody has to look
}

// Undisturbed is more than can arrive.
func Undisturbed() queue.Load { return queue.Load{Messages: math.MaxInt, Bytes: math.MaxInt} }

// Enter lets a message in if there is room and nobody is before it; stir says that
// somebody has to look.
func (d *Door) Enter(m *queue.Message) (entered, stir bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut || d.crowded || !d.fit(m) {
		return false, false
	}
	d.arrived = append(d.arrived, m)
	return true, d.disturb(m)
}

// fit takes room for a message if there is any. One alone always fits.
func (d *Door) fit(m *queue.Message) bool {
	if d.used.Messages >= d.Room.Messages || d.used.Messages > 0 && d.used.Bytes+m.Cost > d.Room.Bytes {
		return false
	}
	d.used.Messages++
	d.used.Bytes += m.Cost
	return true
}

// disturb reports whether somebody has to look at what has arrived, who says anew then
// what to wait for.
func (d *Door) disturb(m *queue.Message) bool {
	d.quiet.Messages--
	d.quiet.Bytes -= len(m.JSON) + 1
	if d.quiet.Messages > 0 && d.quiet.Bytes > 0 {
		return false
	}
	d.quiet = Undisturbed()
	return true
}

// Reserve takes room for a message that does not enter here.
func (d *Door) Reserve(m *queue.Message) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fit(m)
}

// Release gives room back.
func (d *Door) Release(freed queue.Load) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used.Messages -= freed.Messages
	d.used.Bytes -= freed.Bytes
}

// Crowd says whether callers wait for room, whom nobody may pass.
func (d *Door) Crowd(crowded bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.crowded = crowded
}

// Shut lets nothing more in.
func (d *Door) Shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = true
}

// TakeIn returns what has arrived, in order, and keeps an empty slice for what does next.
func (d *Door) TakeIn(spare []*queue.Message) []*queue.Message {
	d.mu.Lock()
	defer d.mu.Unlock()
	arrived := d.arrived
	d.arrived = spare
	return arrived
}

// Quiet sets how much may arrive before somebody has to look, and reports whether it has
// in the meantime.
func (d *Door) Quiet(quiet queue.Load) (stir bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.quiet = quiet
	return quiet != Undisturbed() && slices.ContainsFunc(d.arrived, d.disturb)
}
