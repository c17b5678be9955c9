package ask

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestFirstMembers: whatever comes and goes in which order, those who are kept are all that
// there are up to one of them, and no more than twice as many as are wanted are held.
func TestFirstMembers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		f, all := newFirst("1", 10), make(map[string]time.Time)
		for i := range 20_000 {
			user, at := strconv.Itoa(r.IntN(9000)), time.UnixMilli(int64(i))
			member := r.IntN(4) > 0
			if delete(all, user); member && user > f.after {
				all[user] = at
			}
			if !f.outside([]byte(user)) {
				f.take(user, member, at)
			}
			if len(f.since) > 2*f.most {
				t.Fatalf("%d are held, where %d are wanted", len(f.since), f.most)
			}
		}
		want := make([]Member, 0, len(all))
		for _, user := range slices.Sorted(maps.Keys(all)) {
			if !f.outside([]byte(user)) {
				want = append(want, Member{user, all[user]})
			}
		}
		if diff := cmp.Diff(want, f.members()); diff != "" || !f.cut || len(want) == len(all) {
			t.Errorf("seed %d: of %d members (-want +got):\n%s", seed, len(all), diff)
		}
	}
}

// TestLatestTold: those that were told last, in whatever order they come.
func TestLatestTold(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 7))
	all, kept := make([]Told, 5_000), latest{most: 100}
	for i := range all {
		all[i] = Told{At: time.UnixMilli(int64(i)), offset: int64(i)}
	}
	for _, i := range r.Perm(len(all)) {
		if kept.take(&all[i]); len(kept.told) > 2*kept.most {
			t.Fatalf("%d are held", len(kept.told))
		}
	}
	kept.trim()
	if diff := cmp.Diff(all[len(all)-100:], kept.told, cmp.AllowUnexported(Told{})); diff != "" || kept.found != int64(len(all)) {
		t.Errorf("of %d (-want +got):\n%s", kept.found, diff)
	}
}
