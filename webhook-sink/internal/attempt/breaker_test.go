package attempt

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// switchable is a receiver that is up or down; it counts what it is asked.
type switchable struct {
	down  atomic.Bool
	asked atomic.Int32
}

func (s *switchable) answer() string {
	s.asked.Add(1)
	if s.down.Load() {
		return "" // hangs up
	}
	return always(200)()
}

// attemptAll makes n attempts one after the other and returns their verdicts.
func (b *booth) attemptAll(t *testing.T, n int, hosts ...string) []outcome.Verdict {
	t.Helper()
	dest := receiving(hosts...)
	verdicts := make([]outcome.Verdict, n)
	for i := range verdicts {
		verdicts[i] = b.Attempt(t.Context(), dest, nil, []byte(purchase), false).Verdict
	}
	return verdicts
}

func TestAnEndpointThatIsDownIsLeftAloneUntilItsProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var crm switchable
		crm.down.Store(true)
		b := newBooth(t, map[string]receiver{"crm": crm.answer})
		got := b.attemptAll(t, 8, "crm")
		if want := []outcome.Verdict{outcome.Retry, outcome.Retry, outcome.Retry, outcome.Retry, outcome.Retry, outcome.Withheld, outcome.Withheld, outcome.Withheld}; !slices.Equal(got, want) {
			t.Errorf("verdicts %v, expected the five that open the breaker to be made and the others withheld", got)
		}
		o := b.Attempt(t.Context(), receiving("crm"), nil, []byte(purchase), false)
		if wait := time.Until(o.Until); o.Verdict != outcome.Withheld || wait < 750*time.Millisecond || wait > 1250*time.Millisecond {
			t.Errorf("outcome %+v, expected to be withheld for a second and its spread", o)
		}
		virtual.Sleep(time.Until(o.Until))
		if got := b.attemptAll(t, 2, "crm"); !slices.Equal(got, []outcome.Verdict{outcome.Retry, outcome.Withheld}) {
			t.Errorf("verdicts %v, expected one probe", got)
		}
		crm.down.Store(false)
		virtual.Sleep(3 * time.Second)
		if got := b.attemptAll(t, 3, "crm"); !slices.Equal(got, []outcome.Verdict{outcome.Delivered, outcome.Delivered, outcome.Delivered}) {
			t.Errorf("verdicts %v, expected the endpoint to be found well", got)
		}
		if n := crm.asked.Load(); n != 5+1+3 {
			t.Errorf("%d requests arrived, expected 9", n)
		}
		var said []string
		for _, line := range b.observed {
			if line == "crm down +1" || line == "crm down -1" {
				said = append(said, line)
			}
		}
		if !slices.Equal(said, []string{"crm down +1", "crm down -1"}) {
			t.Errorf("observed %q, expected it to go down once and come back once", said)
		}
	})
}

// TestALastAttemptIsMadeInAnyCase: a breaker must not cost an event its window.
func TestALastAttemptIsMadeInAnyCase(t *testing.T) {
	var crm switchable
	crm.down.Store(true)
	b := newBooth(t, map[string]receiver{"crm": crm.answer})
	b.attemptAll(t, 6, "crm")
	crm.down.Store(false)
	if o := b.Attempt(t.Context(), receiving("crm"), nil, []byte(purchase), true); o.Verdict != outcome.Delivered {
		t.Errorf("outcome %+v, expected the last attempt to find the endpoint well", o)
	}
	if got := b.attemptAll(t, 1, "crm"); got[0] != outcome.Delivered {
		t.Errorf("verdict %v, expected that to have closed the breaker", got)
	}
}

// TestADeadEndpointAmongFiveIsLeftOut: it costs the others nothing once it is
// known to be dead.
func TestADeadEndpointAmongFiveIsLeftOut(t *testing.T) {
	var dead, well switchable
	dead.down.Store(true)
	hosts := map[string]receiver{"dead": dead.answer, "a": well.answer, "b": well.answer, "c": well.answer, "d": well.answer}
	b := newBooth(t, hosts)
	for _, v := range b.attemptAll(t, 100, "a", "b", "dead", "c", "d") {
		if v != outcome.Delivered {
			t.Fatalf("verdict %v, expected all to be delivered", v)
		}
	}
	if n := dead.asked.Load(); n != 5 || well.asked.Load() != 400 {
		t.Errorf("the dead endpoint got %d requests and the others %d, expected 5 and 400", n, well.asked.Load())
	}
}

// TestAnEndpointLeftOutIsOwedTheEvent: when nobody else takes the event, it is
// repeated there, for the reason that the endpoint is down.
func TestAnEndpointLeftOutIsOwedTheEvent(t *testing.T) {
	var down switchable
	down.down.Store(true)
	b := newBooth(t, map[string]receiver{"down": down.answer, "gone": always(410)})
	b.attemptAll(t, 5, "down")
	dest := receiving("gone", "down")
	b.recipients.byID.Clear()
	b.attemptAll(t, 5, "gone", "down")
	o := b.Attempt(t.Context(), dest, nil, []byte(purchase), false)
	if o.Verdict != outcome.Retry || o.Reason != schemas.ReasonNetwork || !slices.Equal(o.Endpoints, []uint64{dest.Endpoints[1].Fingerprint()}) {
		t.Errorf("outcome %+v, expected a repeat at the second endpoint alone", o)
	}
	if n := down.asked.Load(); n != 10 {
		t.Errorf("%d requests arrived at the endpoint that is down, expected the ten before", n)
	}
}

// TestEditsKeepWhatIsKnownOfEndpoints: another secret does not make a dead host
// well, and another URL starts afresh.
func TestEditsKeepWhatIsKnownOfEndpoints(t *testing.T) {
	var crm, other switchable
	crm.down.Store(true)
	b := newBooth(t, map[string]receiver{"crm": crm.answer, "other": other.answer})
	b.attemptAll(t, 5, "crm")
	edited := receiving("crm", "other")
	edited.SharedSecret = "new"
	if o := b.Attempt(t.Context(), edited, nil, []byte(purchase), false); o.Verdict != outcome.Delivered || crm.asked.Load() != 5 || other.asked.Load() != 1 {
		t.Errorf("outcome %+v with %d requests at the one that is down, expected it to be left out", o, crm.asked.Load())
	}
	dialed := len(b.dialed)
	if o := b.Attempt(t.Context(), receiving("other"), nil, []byte(purchase), false); o.Verdict != outcome.Delivered || len(b.dialed) != dialed {
		t.Errorf("outcome %+v at the other endpoint alone, dialed %q; expected the connection to be there still", o, b.dialed)
	}
	if last := b.observed[len(b.observed)-2]; last != "crm down -1" {
		t.Errorf("observed %q, expected the endpoint that was edited away to be down no more", b.observed)
	}
}

// TestAnEventThatCannotBeReadGivesItsProbeBack.
func TestAnEventThatCannotBeReadGivesItsProbeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var crm switchable
		crm.down.Store(true)
		b := newBooth(t, map[string]receiver{"crm": crm.answer})
		b.attemptAll(t, 5, "crm")
		crm.down.Store(false)
		virtual.Sleep(2 * time.Second)
		if o := b.Attempt(t.Context(), receiving("crm"), nil, []byte("{"), false); o.Verdict != outcome.Dead {
			t.Errorf("outcome %+v of an event that can't be read", o)
		}
		if got := b.attemptAll(t, 1, "crm"); got[0] != outcome.Delivered {
			t.Errorf("verdict %v, expected the probe to be there for the next event", got)
		}
	})
}

// TestARepeatAtSomeEndpointsSaysNothingOfTheOthers.
func TestARepeatAtSomeEndpointsSaysNothingOfTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBooth(t, nil) // where no endpoint answers
		b.attemptAll(t, 5, "a", "b", "c")
		dest := receiving("a", "b", "c")
		var all []uint64
		for _, e := range dest.Endpoints {
			all = append(all, e.Fingerprint())
		}
		for _, test := range []struct {
			only    []uint64
			partial bool
		}{{nil, false}, {all[:1], true}, {all[1:], true}, {all, false}, {append(all[:3:3], 4), false}, {[]uint64{4}, false}} {
			o := b.Attempt(t.Context(), dest, test.only, []byte(purchase), false)
			if o.Verdict != outcome.Withheld || o.Partial != test.partial {
				t.Errorf("an attempt for %d of 3 endpoints is %+v, expected to be withheld, partial %t", len(test.only), o, test.partial)
			}
		}
	})
}

func TestPrice(t *testing.T) {
	for _, test := range []struct {
		reason schemas.Reason
		took   time.Duration
		want   time.Duration
	}{
		{schemas.ReasonStatus5xx, time.Millisecond, 20 * time.Millisecond},
		{schemas.ReasonStatus4xx, 2 * time.Second, 4 * time.Second},
		{schemas.ReasonNetwork, time.Millisecond, 3 * time.Second},
		{schemas.ReasonTLS, 50 * time.Millisecond, 3 * time.Second},
		{schemas.ReasonTimeout, 5 * time.Second, 50 * time.Second},
	} {
		if got := price(test.reason, test.took); got != test.want {
			t.Errorf("price of %s after %s is %s, expected %s", test.reason, test.took, got, test.want)
		}
	}
}

// TestLastAttemptsAtOneThatHangsAreFew: as many events may be at their last as a
// four-hour outage has left.
func TestLastAttemptsAtOneThatHangsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBooth(t, map[string]receiver{"crm": after(time.Hour, always(200))})
		b.attemptAll(t, 5, "crm")
		dest, most := receiving("crm"), b.forced
		for range 2 {
			var made, withheld atomic.Int32
			var all sync.WaitGroup
			for range 3 * most {
				all.Go(func() {
					o := b.Attempt(t.Context(), dest, nil, []byte(purchase), true)
					if o.Verdict == outcome.Retry {
						made.Add(1)
						return
					}
					withheld.Add(1)
					if o.Verdict != outcome.Withheld || o.Reason != schemas.ReasonTimeout || o.Detail == "" {
						t.Errorf("outcome %+v, expected to say what the endpoint fails of", o)
					}
				})
			}
			all.Wait()
			if n := made.Load(); n < most || n > most+1 || n+withheld.Load() != 3*most {
				t.Errorf("%d made and %d withheld, expected %d, a probe at most, and the others", n, withheld.Load(), most)
			}
		}
	})
}
