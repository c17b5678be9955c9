package work

import (
	"slices"
	"testing"
)

// check judges a life that is over.
func (l *life) check(t *testing.T, sums *lifeSums) {
	t.Helper()
	sums.lives++
	books := l.group.books
	posts := make(map[int][]simPost)
	for _, p := range books.posts {
		posts[p.event] = append(posts[p.event], p)
	}
	for i := range l.events {
		e := &books.events[l.events[i].number]
		slices.SortStableFunc(e.log, func(a, b simAttempt) int { return a.began.Compare(b.began) })
		c := &verdict{life: l, event: &l.events[i], simEvent: e, posts: posts[l.events[i].number], t: t}
		c.judge(sums)
	}
	if !l.kills() {
		l.checkOrder(t)
	}
}

// checkOrder: first attempts of one user at one destination begin one after the
// other, in order.
func (l *life) checkOrder(t *testing.T) {
	t.Helper()
	last := make(map[string]simAttempt)
	for i := range l.events {
		e := &l.events[i]
		first := l.group.books.events[e.number].log
		if len(first) == 0 {
			continue
		}
		user := e.destination + "/" + e.key
		if before, some := last[user]; some && first[0].began.Before(before.began.Add(before.took)) {
			t.Errorf("event %d began before the first attempt at %d had ended", e.number, before.event)
		}
		last[user] = first[0]
	}
}
