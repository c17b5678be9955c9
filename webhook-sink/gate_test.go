package webhooksink

import (
	"context"
	"testing"
	"testing/synctest"
)

func TestTheGateWaitsForWhatThePollReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		polling := g.enter(t.Context())
		passed := false
		go func() {
			g.pass()
			passed = true
		}()
		<-polling.Done() // the poll is broken off
		synctest.Wait()
		if passed {
			t.Fatal("passed before what the poll returned was taken in")
		}
		g.leave()
		synctest.Wait()
		if !passed {
			t.Fatal("not passed")
		}
	})
}

func TestTheGateIsOpenBetweenPolls(t *testing.T) {
	var g gate
	g.pass()
	g.enter(t.Context())
	g.leave()
	g.pass()
}

func TestTheGateLetsSeveralPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		for range 3 {
			polling := g.enter(t.Context())
			go g.pass()
			go g.pass()
			<-polling.Done()
			synctest.Wait()
			g.leave()
			if context.Cause(polling) == nil {
				t.Fatal("the poll's context is not ended, and leaks")
			}
		}
	})
}
