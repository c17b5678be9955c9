//go:build go1.26

package dispatch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/upload"
	"github.com/anabranch/anabranch/analytics/internal/virtual"
)

// moody is a server that does anything: it takes, takes after a while, refuses,
// refuses some, asks to wait, and hangs until it is cut. What it has taken it
// writes down.
type moody struct {
	mu    sync.Mutex
	dice  *rand.Rand
	taken map[string][]int // by user, in order of arrival
}

func (s *moody) post(ctx context.Context, batch []*queue.Message) upload.Answer {
	s.mu.Lock()
	mood, pause := s.dice.IntN(13), time.Duration(s.dice.IntN(2000))*time.Millisecond
	s.mu.Unlock()
	switch mood {
	case 0:
		return down(0)
	case 1:
		return down(pause)
	case 2:
		return upload.Answer{Verdict: upload.Refused, Err: errors.New("status 400")}
	case 3, 4:
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return upload.Answer{Verdict: upload.Again, Err: ctx.Err()}
		}
	}
	switch {
	case mood == 10:
		return failing(503)
	case mood == 11 && queue.Size(batch) > 60:
		return tooLarge
	case mood == 12:
		return upload.Answer{Verdict: upload.Again, Err: context.DeadlineExceeded, TimedOut: true}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := upload.Answer{Verdict: upload.Taken, Rejected: map[int]*upload.Refusal{}}
	for i, m := range batch {
		if mood == 5 && i%3 == 0 {
			a.Rejected[i] = &upload.Refusal{Status: 200}
			continue
		}
		n, _ := strconv.Atoi(m.ID[strings.IndexByte(m.ID, '-')+1:])
		s.taken[m.User] = append(s.taken[m.User], n)
	}
	return a
}

// TestEveryMessageHasOneOutcome runs callers against a moody server under every
// policy and checks what holds whatever happens: each message that was let in has
// one outcome, each user's messages arrive in order, the bounds hold, the counts
// add up, and what Close returns is what was not sent.
func TestEveryMessageHasOneOutcome(t *testing.T) {
	for _, policy := range []Policy{Block, Refuse, DropOldest} {
		for seed := range uint64(40) {
			t.Run(fmt.Sprintf("policy %d seed %d", policy, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { oneOutcome(t, policy, seed) })
			})
		}
	}
}

func oneOutcome(t *testing.T, policy Policy, seed uint64) {
	t.Helper()
	dice := rand.New(rand.NewPCG(seed, uint64(policy)))
	l := newLab(t, func(c *Config) {
		c.FlushAt = 1 + dice.IntN(8)
		c.BatchMessages = c.FlushAt * (1 + dice.IntN(3))
		c.MaxAge = time.Duration(dice.IntN(3)*dice.IntN(20)) * time.Second
		c.BatchBytes = 50 + dice.IntN(200)
		c.MaxMessages, c.MaxBytes = 10+dice.IntN(50), 500+dice.IntN(2000)
		c.MaxInFlight, c.Full = 1+dice.IntN(5), policy
	})
	server := &moody{dice: rand.New(rand.NewPCG(seed, 7)), taken: map[string][]int{}}
	l.respond(server.post)
	accepted := callers(t, l, seed)
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(dice.IntN(5000))*time.Millisecond)
	defer cancel()
	unsent, _ := l.Close(ctx)

	outcomes := map[string]error{}
	for _, o := range l.told() {
		if _, twice := outcomes[o.id]; twice {
			t.Errorf("%s was reported twice", o.id)
		}
		outcomes[o.id] = o.err
	}
	if len(outcomes) != accepted {
		t.Errorf("%d outcomes of %d messages", len(outcomes), accepted)
	}
	toldInOrder(t, l.told())
	for _, m := range unsent {
		if !errors.Is(outcomes[m.ID], ErrUnsent) {
			t.Errorf("%s was returned by Close and reported as %v", m.ID, outcomes[m.ID])
		}
	}
	s := l.Stats()
	if s.Accepted != uint64(accepted) || s.Accepted != s.Sent+s.Rejected+s.Dropped+s.Expired+s.Unsent || s.Unsent != uint64(len(unsent)) || s.Queued != 0 || s.QueuedBytes != 0 {
		t.Errorf("%d accepted, %d unsent, counted %+v", accepted, len(unsent), s)
	}
	for user, list := range server.taken {
		for i := 1; i < len(list); i++ {
			if list[i] <= list[i-1] {
				t.Errorf("%s: %d arrived after %d", user, list[i], list[i-1])
			}
		}
	}
}

// toldInOrder checks that each user's outcomes were reported in the order of the calls,
// but for messages that were dropped to make room.
func toldInOrder(t *testing.T, outcomes []outcome) {
	t.Helper()
	last := map[string]int{}
	for _, o := range outcomes {
		if errors.Is(o.err, ErrDropped) {
			continue
		}
		user, number, _ := strings.Cut(o.id, "-")
		n, _ := strconv.Atoi(number)
		if n < last[user] {
			t.Errorf("%s: %d was reported after %d", user, n, last[user])
		}
		last[user] = n
	}
}

// callers queues messages from several goroutines, which share users, flushes now
// and then, and returns how many were let in.
func callers(t *testing.T, l *lab, seed uint64) int {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	accepted := 0
	for g := range 4 {
		wg.Go(func() {
			dice := rand.New(rand.NewPCG(seed, uint64(g)))
			for i := range 60 {
				user := fmt.Sprintf("u%d.%d", g, dice.IntN(3))
				m := message(fmt.Sprintf("%s-%d", user, i), user, 1+dice.IntN(60))
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(dice.IntN(3000))*time.Millisecond)
				if err := l.Put(ctx, m); err == nil {
					mu.Lock()
					accepted++
					mu.Unlock()
				}
				if dice.IntN(20) == 0 {
					_ = l.Flush(ctx)
				}
				cancel()
				if s := l.Stats(); s.Queued > l.cfg.MaxMessages || s.QueuedBytes > l.cfg.MaxBytes || s.InFlight > l.cfg.MaxInFlight {
					t.Errorf("beyond its bounds: %+v", s)
				}
				virtual.Sleep(time.Duration(dice.IntN(200)) * time.Millisecond)
			}
		})
	}
	wg.Wait()
	return accepted
}
