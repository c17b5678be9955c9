package resolve

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
)

// descriptors counts the open files of this process, where the system tells.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system does not list descriptors")
	}
	return len(entries)
}

// The same over real sockets, against a name server that takes every question
// and answers none. It is alone, since it counts what the whole process holds.
func TestAResolverThatHangsGivesEverythingBack(t *testing.T) {
	server := newNameServer(always(reply{mute: true}))
	d := NewDialer(Options{Guard: guard.New(nil), NameServer: server.listen(t)})
	descriptorsBefore, goroutinesBefore := descriptors(t), runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	var attempts sync.WaitGroup
	for i := range 1000 {
		attempts.Go(func() {
			if _, err := d.DialContext(ctx, "tcp", "host"+strconv.Itoa(i)+".example.:443"); err == nil {
				t.Errorf("host %d was reached", i)
			}
		})
	}
	testkit.Until(t, func() bool { return len(d.names.places) == maxLookups }, "all places to be taken")
	attempts.Wait()
	const besides = 16 // what the runtime opens for itself
	if more := descriptors(t) - descriptorsBefore; more > 2*maxLookups+besides {
		t.Errorf("%d descriptors more while a thousand names hang", more)
	}
	if more := runtime.NumGoroutine() - goroutinesBefore; more > 1000+3*maxLookups+besides {
		t.Errorf("%d goroutines more while a thousand names hang", more)
	}
	d.Close()
	testkit.Until(t, func() bool {
		return descriptors(t) <= descriptorsBefore+1 && runtime.NumGoroutine() <= goroutinesBefore
	}, "descriptors and goroutines to come back")
}
