package users

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/store"
)

// Users are those of one partition. They belong to one goroutine.
type Users struct {
	num       int32
	store     store.Store
	catalogue *engine.Catalogue

	// Profiles are kept decoded between transactions, as the store has them. Those that were
	// used since the last generation began are young; when they take half of what all may,
	// the old ones go, and a generation begins.
	most, size int // bytes that all may take, and that the young ones do
	young, old map[string]*User

	open  map[string]*User // of the transaction
	fired []store.Timer    // that are gone when it commits
}

// User is one of them.
type User struct {
	ID      string
	Profile *engine.Profile

	// armed is an instant at or before which the store has a timer; zero: none is known.
	armed time.Time
	// rewrite says that the state is to be written though nothing changed.
	rewrite bool
	state   []byte // as it was written
	record  int    // bytes that it has in the store
}

// New returns the users of a partition.
func New(num int32, s store.Store) *Users {
	return &Users{num: num, store: s, young: make(map[string]*User), open: make(map[string]*User)}
}

// Keep says how many bytes the profiles may take, about, that are kept decoded between
// transactions.
func (u *Users) Keep(bytes int) { u.most = bytes }

// Use has profiles be read by a catalogue, between two transactions.
func (u *Users) Use(c *engine.Catalogue) {
	if u.catalogue != c {
		u.catalogue = c
		u.young, u.old, u.size = make(map[string]*User), nil, 0 // what they hold is by the other one
	}
}

// Get returns a user, of whom there need not be a record yet.
func (u *Users) Get(id string) (*User, error) {
	if one := u.open[id]; one != nil {
		return one, nil
	}
	one := u.kept(id)
	if one == nil {
		record, ok, err := u.store.Get(u.num, []byte(id))
		if err != nil {
			return nil, err
		}
		if one, err = u.decode(id, record, ok); err != nil {
			return nil, err
		}
	}
	u.open[id] = one
	return one, nil
}

// kept takes a user out of those that are kept; nil: they are not among them.
func (u *Users) kept(id string) *User {
	if one := u.young[id]; one != nil {
		delete(u.young, id)
		u.size -= one.size()
		return one
	}
	one := u.old[id]
	delete(u.old, id)
	return one
}

// size is about how many bytes a user takes decoded (BenchmarkKept).
func (one *User) size() int {
	const user, byteOfRecord = 700, 7
	return user + byteOfRecord*one.record
}

func (u *Users) decode(id string, record []byte, ok bool) (*User, error) {
	if !ok {
		return &User{ID: id, Profile: u.catalogue.NewProfile()}, nil
	}
	p, err := u.catalogue.Decode(record)
	if err != nil {
		return nil, fmt.Errorf("record of user %q on partition %d: %w", id, u.num, err)
	}
	return &User{ID: id, Profile: p, armed: p.Due(), record: len(record)}, nil
}

// Look returns up to n users of the store, in order, the first not before from, and where
// the next ones begin; nil: there are none. They are as the transaction has them. One
// whose record differs from what would be written now is written again.
func (u *Users) Look(from []byte, n int) (some []*User, next []byte, err error) {
	type row struct {
		id    string
		state []byte
	}
	var rows []row
	err = u.store.Scan(u.num, from, func(user, record []byte) bool {
		if len(rows) == n {
			next = slices.Clone(user)
			return false
		}
		rows = append(rows, row{string(user), slices.Clone(record)})
		return true
	})
	for _, r := range rows {
		if err != nil {
			break
		}
		var one *User
		if one, err = u.Get(r.id); err == nil {
			one.rewrite = one.rewrite || !one.Profile.Dirty() && !bytes.Equal(r.state, one.Profile.Append(nil))
			some = append(some, one)
		}
	}
	return some, next, err
}

// Rewrite has up to n users of the store written again, in order, the first not before from.
// It returns how many these are and where the next ones begin; nil: there are none.
func (u *Users) Rewrite(from []byte, n int) (written int, next []byte, err error) {
	some, next, err := u.Look(from, n)
	for _, one := range some {
		one.rewrite = true
	}
	return len(some), next, err
}

// Touched is how many users the transaction has looked at.
func (u *Users) Touched() int { return len(u.open) }

// Due returns up to n users who may be due up to an instant, whose timers fire with the
// transaction, and whether there may be more.
func (u *Users) Due(until time.Time, n int) (some []*User, more bool, err error) {
	var after store.Timer
	if len(u.fired) > 0 {
		after = u.fired[len(u.fired)-1]
	}
	timers, err := u.store.Due(u.num, after, until, n)
	for _, t := range timers {
		if err != nil {
			break
		}
		var one *User
		if one, err = u.Get(string(t.User)); err == nil {
			one.armed = time.Time{}
			u.fired = append(u.fired, t)
			some = append(some, one)
		}
	}
	return some, len(timers) == n, err
}

// Changed calls write with each user whom the transaction changed, in order, and with
// their state.
func (u *Users) Changed(write func(id string, state []byte)) {
	for _, id := range slices.Sorted(maps.Keys(u.open)) {
		one := u.open[id]
		if one.state = nil; one.Profile.Dirty() || one.rewrite {
			one.state = one.Profile.Append(make([]byte, 0, one.record+one.record/8+64))
			write(id, one.state)
		}
	}
}

// Commit puts into a batch what Changed has written, and what became of the timers: the
// transaction has committed.
func (u *Users) Commit(batch *store.Batch) {
	for _, t := range u.fired {
		batch.DeleteTimer(u.num, t.User, t.Due)
	}
	for id, one := range u.open {
		if one.state != nil {
			batch.Put(u.num, []byte(id), one.state)
			one.Profile.Clean()
			one.rewrite, one.state, one.record = false, nil, len(one.state)
		}
		if due := one.Profile.Due(); !due.IsZero() && (one.armed.IsZero() || due.Before(one.armed)) {
			batch.SetTimer(u.num, []byte(id), due)
			one.armed = due
		}
		u.keep(one)
	}
	u.end()
}

// keep has a user kept decoded, for whom others may have to go.
func (u *Users) keep(one *User) {
	if u.size += one.size(); u.size > u.most/2 {
		u.young, u.old, u.size = make(map[string]*User), u.young, one.size()
	}
	u.young[one.ID] = one
}

// Abandon drops what the transaction changed.
func (u *Users) Abandon() { u.end() }

func (u *Users) end() {
	clear(u.open)
	u.fired = u.fired[:0]
}
