package group

import (
	"context"
	"testing"
	"testing/synctest"
)

func TestTheGateWaitsForWhatThePollReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Gate
		polling := g.Enter(t.Context())
		passed := false
		go func() {
			g.Pass()
			passed = true
		}()
		<-polling.Done() // the poll is broken off
		synctest.Wait()
		if passed {
			t.Fatal("passed before what the poll returned was taken in")
		}
		g.Leave()
		synctest.Wait()
		if !passed {
			t.Fatal("not passed")
		}
	})
}

func TestTheGateIsOpenBetweenPolls(t *testing.T) {
	var g Gate
	g.Pass()
	g.Enter(t.Context())
	g.Leave()
	g.Pass()
}

func TestTheGateLetsSeveralPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Gate
		for range 3 {
			polling := g.Enter(t.Context())
			go g.Pass()
			go g.Pass()
			<-polling.Done()
			synctest.Wait()
			g.Leave()
			if context.Cause(polling) == nil {
				t.Fatal("the poll's context is not ended, and leaks")
			}
		}
	})
}
