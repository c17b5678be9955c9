package ask

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/internal/spill"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/state"
)

// later are users who have other ids, on piles: what is known of such a user stands on
// several partitions.
type later struct {
	kept      *spill.Piles // who has other ids
	redirects *spill.Piles // to whom an id was merged away, by the id
	handed    *spill.Piles // what was folded of it, by whom it goes to
	arrived   *spill.Piles // the same, once that one is known to be the last
}

// mostHops is how often one who was handed over may be handed on.
const mostHops = 1_000

func newLater(room *spill.Room) later {
	return later{spill.New(room), spill.New(room), spill.New(room), spill.New(room)}
}

func (l *later) close() {
	for _, all := range []*spill.Piles{l.kept, l.redirects, l.handed, l.arrived} {
		all.Close()
	}
}

// redirect puts off an id that was merged away.
func (l *later) redirect(r *replay, id string, u *row) error {
	to := u.before.Redirect
	u.profile.Redirect, u.profile.Links = "", nil
	if err := l.redirects.Add(r.pileOf(id), append(appendText(nil, id), to...)); err != nil {
		return err
	}
	return l.handed.Add(r.pileOf(to), r.c.Append(appendText(nil, to), u.profile))
}

// keep puts off a user who has other ids.
func (l *later) keep(r *replay, id string, u *row, now time.Time) error {
	note := binary.AppendVarint(appendText(nil, id), now.UnixMilli())
	note = appendText(note, u.record)
	note = appendText(note, r.c.Append(nil, u.profile))
	for _, t := range u.told {
		told, err := appendTold(nil, &t)
		if err != nil {
			return err
		}
		note = appendText(note, told)
	}
	return l.kept.Add(r.pileOf(id), note)
}

// merge hands over what was folded of ids that were merged away, and looks at who got it.
func (r *replay) merge(ctx context.Context) error {
	for hop, moved := 0, true; moved; hop++ {
		if hop == mostHops {
			return fmt.Errorf("ids were merged into one another more than %d times in a row", mostHops)
		}
		var err error
		if moved, err = r.later.forward(r); err != nil {
			return err
		}
	}
	for num := range spill.Many {
		if err := ctx.Err(); err != nil {
			return err
		}
		users, err := r.later.gather(r, num)
		if err != nil {
			return err
		}
		for _, u := range users {
			if err := r.judge(u); err != nil {
				return err
			}
		}
	}
	return nil
}

// forward hands on what was handed to somebody who was merged away in turn, and reports
// whether there is any.
func (l *later) forward(r *replay) (moved bool, err error) {
	from := l.handed
	defer from.Close()
	l.handed = spill.New(r.room)
	for num := range spill.Many {
		away := make(map[string]string)
		if err := l.redirects.Each(num, func(note []byte) error {
			in := state.Reader{Rest: note}
			id := string(in.Bytes())
			away[id] = string(in.Rest)
			return nil
		}); err != nil {
			return false, err
		}
		if err := from.Each(num, func(note []byte) error {
			in := state.Reader{Rest: note}
			to := string(in.Bytes())
			next, further := away[to]
			if !further {
				return l.arrived.Add(r.pileOf(to), note)
			}
			moved = true
			return l.handed.Add(r.pileOf(next), append(appendText(nil, next), in.Rest...))
		}); err != nil {
			return false, err
		}
	}
	return moved, nil
}

// gather returns the users of a pile with all that was handed to them.
func (l *later) gather(r *replay, num int) (map[string]*computed, error) {
	users := make(map[string]*computed)
	if err := l.kept.Each(num, func(note []byte) error {
		u, err := readKept(r.c, bytes.Clone(note))
		if err == nil {
			users[u.id] = u
		}
		return err
	}); err != nil {
		return nil, err
	}
	return users, l.arrived.Each(num, func(note []byte) error {
		in := state.Reader{Rest: bytes.Clone(note)}
		u := users[string(in.Bytes())]
		if u == nil {
			return nil
		}
		p, err := r.c.Decode(in.Rest)
		if err == nil {
			r.c.Merge(u.profile, p)
		}
		return err
	})
}

func readKept(c *engine.Catalogue, note []byte) (u *computed, err error) {
	in := state.Reader{Rest: note}
	u = &computed{id: string(in.Bytes()), now: time.UnixMilli(in.Signed()).UTC(), told: make(map[string]Told)}
	if u.before, err = c.Decode(in.Bytes()); err != nil {
		return nil, err
	}
	if u.profile, err = c.Decode(in.Bytes()); err != nil {
		return nil, err
	}
	for len(in.Rest) > 0 {
		t, err := readTold(&state.Reader{Rest: in.Bytes()})
		if err != nil {
			return nil, err
		}
		u.told[t.Key] = t
	}
	if in.Failed {
		return nil, errNote
	}
	return u, nil
}
