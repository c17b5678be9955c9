package post

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// soakVariable is how long the long form of TestSixtyFourAtOnce takes, as "2m".
// Without it, the short form runs.
const soakVariable = "POST_TEST_SOAK"

// For as long as sixty-four receivers misbehave at once, memory stays bounded, every
// attempt ends in time, and afterwards nothing is left of it.
func TestSixtyFourAtOnce(t *testing.T) {
	const allowedGrowth = 64 << 20
	lasting, limit, late := 1500*time.Millisecond, 500*time.Millisecond, 5*time.Second
	if long, err := time.ParseDuration(os.Getenv(soakVariable)); err == nil {
		lasting, limit, late = long, 5*time.Second, 300*time.Millisecond
	}
	bombResponse()
	before := takeStock()
	var longest, growth, posts int64
	var slowest atomic.Pointer[string]
	t.Run("soak", func(t *testing.T) {
		receivers, trusted := misbehavingReceivers(t)
		receivers = append(receivers, receivers[:64-len(receivers)]...)
		var running sync.WaitGroup
		end := time.Now().Add(lasting)
		for i := range receivers {
			r := &receivers[i]
			s := r.open(t)
			client := newClient(t, Options{Timeout: limit, Dial: new(latestConn).dialTo(s.address), Roots: pool(trusted.cert)})
			target, body := newTarget(t, r.url()), make([]byte, min(max(r.size, 1000), 1<<20))
			running.Go(func() {
				for time.Now().Before(end) {
					began := time.Now()
					client.Post(t.Context(), target, body, "")
					if took := time.Since(began); atomicMax(&longest, int64(took)) && took > limit {
						slowest.Store(&r.name)
					}
					atomic.AddInt64(&posts, 1)
					<-time.After(10 * time.Millisecond) // or the floods take all of the machine, and its clock suffers
				}
			})
		}
		running.Go(func() {
			for time.Now().Before(end) {
				atomicMax(&growth, takeStock().memory-before.memory)
				<-time.After(50 * time.Millisecond)
			}
		})
		running.Wait()
	})
	t.Logf("%d POSTs in %s, the longest took %s; memory grew by %d MiB", posts, lasting, time.Duration(longest), growth>>20)
	if time.Duration(longest) > limit+late {
		t.Errorf("a POST to %q took %s, with a timeout of %s", *slowest.Load(), time.Duration(longest), limit)
	}
	if growth > allowedGrowth {
		t.Errorf("memory grew by %d MiB", growth>>20)
	}
	var after stock
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); <-time.After(10 * time.Millisecond) {
		runtime.GC()
		if after = takeStock(); after.goroutines <= before.goroutines && after.descriptors <= before.descriptors {
			break
		}
	}
	if after.goroutines > before.goroutines || after.descriptors > before.descriptors || after.memory > before.memory+8<<20 {
		t.Errorf("left behind: before %+v, after %+v", before, after)
	}
}

// stock is what a process holds.
type stock struct {
	goroutines, descriptors int
	memory                  int64 // bytes in use, of heap and stacks
}

func takeStock() stock {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	descriptors, _ := os.ReadDir("/proc/self/fd") // none where there is no such thing
	return stock{goroutines: runtime.NumGoroutine(), descriptors: len(descriptors), memory: int64(m.HeapInuse + m.StackInuse)}
}

// atomicMax reports whether n is the new maximum.
func atomicMax(to *int64, n int64) bool {
	for {
		old := atomic.LoadInt64(to)
		if n <= old {
			return false
		}
		if atomic.CompareAndSwapInt64(to, old, n) {
			return true
		}
	}
}
