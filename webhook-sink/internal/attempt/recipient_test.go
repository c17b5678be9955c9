package attempt

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/breaker"
)

func TestBreakersAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var crm switchable
		crm.down.Store(true)
		b := newBooth(t, map[string]receiver{"crm": crm.answer, "ads": always(200)})
		expect := func(want breaker.Counts) {
			t.Helper()
			if got := b.Breakers(); got != want {
				t.Errorf("breakers %v, want %v", got, want)
			}
		}
		expect(breaker.Counts{})
		b.attemptAll(t, 1, "crm", "ads")
		expect(breaker.Counts{breaker.Closed: 2})
		b.attemptAll(t, 4, "crm", "ads")
		expect(breaker.Counts{breaker.Closed: 1, breaker.Open: 1})
	})
}

// TestAProbeIsCountedWhileItIsUnderWay.
func TestAProbeIsCountedWhileItIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBooth(t, nil)
		p := b.recipients.of(receiving("crm"))
		for range 5 {
			p.endpoints[0].breaker.Failed(breaker.Granted, 0, time.Now())
		}
		virtual.Sleep(time.Minute)
		if permit, _ := p.endpoints[0].breaker.Admit(time.Now()); permit != breaker.Probe {
			t.Fatalf("the attempt is %v, want a probe", permit)
		}
		if got := b.Breakers(); got != (breaker.Counts{breaker.Probing: 1}) {
			t.Errorf("breakers %v, want one that is probing", got)
		}
		b.recipients.of(&workspace.Destination{ID: receiving("crm").ID}) // its endpoints were edited away
		if got := b.Breakers(); got != (breaker.Counts{}) {
			t.Errorf("breakers %v of endpoints that are gone", got)
		}
	})
}
