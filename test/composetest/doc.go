// Command composetest brings docker-compose.yml up as people do, sends calls at a
// steady rate, scales, stops and kills services meanwhile, and counts at the
// receiver: nothing that was acknowledged may be lost, every signature has to hold,
// and only a kill may have an event delivered twice.
//
//	go run ./test/composetest                      every step
//	go run ./test/composetest -steps steady,scale-out
//	go run ./test/composetest -list                what there is
//
// It uses whatever Docker engine DOCKER_HOST or the context names; "make
// compose-test" gives it one of its own. Each step prints one line. The exit code is
// 1 when something did not hold.
//
// # Non-obvious
//
//   - `docker kill` counts as a wish to stop, and no restart policy answers it: the
//     process itself is killed (TestKillSparesOtherProcesses in package stack).
//   - An image build without a network needs modules and sums in the base: GOPROXY=off,
//     GOSUMDB=off. No test holds this.
package main
