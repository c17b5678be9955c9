package attempt

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/endpoints"
)

// TestHowEndpointsFare: one that is down says why and when it is asked next, one that was
// never asked says so.
func TestHowEndpointsFare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var crm switchable
		crm.down.Store(true)
		b := newBooth(t, map[string]receiver{"crm": crm.answer, "mail": always(200)})
		dest := receiving("crm", "mail")
		look := func() (states []endpoints.State, figures []endpoints.Figures) {
			for _, e := range b.Endpoints(dest) {
				if down := e.State == endpoints.Down; e.Next.After(time.Now()) != down || (e.Why == "network") != down || e.URL == "" {
					t.Errorf("that is %s: %+v", e.State, e)
				}
				states, figures = append(states, e.State), append(figures, endpoints.Figures{Attempts: e.Attempts, Failed: e.Failed, Of: e.Of})
			}
			return states, figures
		}
		same := func(states []endpoints.State, figures []endpoints.Figures) {
			t.Helper()
			gotStates, gotFigures := look()
			if diff := cmp.Diff(states, gotStates) + cmp.Diff(figures, gotFigures); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		same([]endpoints.State{endpoints.Untried, endpoints.Untried}, []endpoints.Figures{{}, {}})
		b.attemptAll(t, 8, "crm", "mail")
		same([]endpoints.State{endpoints.Down, endpoints.Up}, []endpoints.Figures{{Attempts: 5, Failed: 5, Of: 5}, {Attempts: 8, Of: 8}})
		crm.down.Store(false)
		virtual.Sleep(time.Minute)
		b.attemptAll(t, 1, "crm", "mail")
		same([]endpoints.State{endpoints.Up, endpoints.Up}, []endpoints.Figures{{Attempts: 1, Of: 6}, {Attempts: 1, Of: 9}})
	})
}
