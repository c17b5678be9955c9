package compare

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	segment "github.com/segmentio/analytics-go/v3"

	"github.com/anabranch/anabranch/analytics"
)

// goroutines is how many call at a time.
const goroutines = 8

// sender is one client: it queues a message of about 1 KB, and ends.
type sender struct {
	track func(user string, properties map[string]any) error
	close func() error
}

// properties are those of an order, with a note that makes the message 1 KB.
func properties(n int) map[string]any {
	return map[string]any{
		"orderId": n, "total": 149.95, "revenue": 129.5, "currency": "EUR", "coupon": nil, "gift": false,
		"products": []any{
			map[string]any{"productId": "p-1", "name": "Kettle", "price": 49.95, "quantity": 1},
			map[string]any{"productId": "p-2", "name": "Tea, loose", "price": 25, "quantity": 4},
		},
		"note": strings.Repeat("Lorem ipsum dolor sit amet. ", 20),
	}
}

func compressed(b *testing.B, url string, flushAt int) sender {
	b.Helper()
	return anabranch(b, url, flushAt, true)
}

func plain(b *testing.B, url string, flushAt int) sender {
	b.Helper()
	return anabranch(b, url, flushAt, false)
}

func anabranch(b *testing.B, url string, flushAt int, compress bool) sender {
	b.Helper()
	client, err := analytics.NewClient("wk", analytics.WithEndpoint(url), analytics.WithFlushAt(flushAt), analytics.WhenFull(analytics.Block), analytics.WithCompression(compress), analytics.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		b.Fatal(err)
	}
	return sender{
		track: func(user string, properties map[string]any) error {
			return client.Enqueue(context.Background(), &analytics.Track{UserId: user, Event: "Order Completed", Properties: properties})
		},
		close: client.Close,
	}
}

func theirs(b *testing.B, url string, flushAt int) sender {
	client, err := segment.NewWithConfig("wk", segment.Config{Endpoint: url, BatchSize: flushAt})
	if err != nil {
		b.Fatal(err)
	}
	return sender{
		track: func(user string, properties map[string]any) error {
			return client.Enqueue(segment.Track{UserId: user, Event: "Order Completed", Properties: properties})
		},
		close: client.Close,
	}
}

// BenchmarkPath takes a message the whole way, from the call to the server's answer,
// eight goroutines calling as fast as they can. The server is a process of its own,
// so the CPU time is the client's alone. allocs/op and cpu-µs/op include the map of properties that
// the caller makes, which "map" measures alone.
func BenchmarkPath(b *testing.B) {
	url := collector(b)
	for _, flushAt := range []int{20, 250} {
		for name, open := range clients {
			b.Run(name+"/batch="+strconv.Itoa(flushAt), func(b *testing.B) {
				path(b, open(b, url, flushAt), properties)
			})
		}
	}
	b.Run("map", func(b *testing.B) {
		path(b, sender{track: func(_ string, properties map[string]any) error { sink.Store(properties); return nil }, close: func() error { return nil }}, properties)
	})
}

// BenchmarkFar is the same with a server that takes 50 ms for a request, and messages of
// 200 bytes: of many users, and of one.
func BenchmarkFar(b *testing.B) {
	url := collector(b) + "/far"
	small := func(n int) map[string]any { return map[string]any{"n": n} }
	for _, who := range []struct {
		name  string
		users int
	}{{"users", 500}, {"user", 1}} {
		for name, open := range clients {
			b.Run(name+"/"+who.name, func(b *testing.B) {
				far(b, open(b, url, 20), small, who.users)
			})
		}
	}
}

var clients = map[string]func(*testing.B, string, int) sender{"anabranch": plain, "anabranch-gzip": compressed, "segment-v3": theirs}

var sink atomic.Value

// path makes b.N calls, of 500 users, and closes the client.
func path(b *testing.B, s sender, properties func(int) map[string]any) {
	b.Helper()
	took := make([]time.Duration, b.N)
	runtime.GC()
	b.ReportAllocs()
	b.ResetTimer()
	before := cpu()
	call(b, 500, func(user string, n int) error {
		start := time.Now()
		err := s.track(user, properties(n))
		took[n] = time.Since(start)
		return err
	})
	if err := s.close(); err != nil {
		b.Error(err)
	}
	b.StopTimer()
	b.ReportMetric(float64((cpu()-before).Nanoseconds())/1e3/float64(b.N), "cpu-µs/op")
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
}

// far makes b.N calls and measures how many a second arrive.
func far(b *testing.B, s sender, properties func(int) map[string]any, users int) {
	b.Helper()
	start := time.Now()
	call(b, users, func(user string, n int) error { return s.track(user, properties(n)) })
	if err := s.close(); err != nil {
		b.Error(err)
	}
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "messages/s")
}

// call makes b.N calls from eight goroutines.
func call(b *testing.B, users int, track func(user string, n int) error) {
	b.Helper()
	names := make([]string, users)
	for i := range names {
		names[i] = "user-" + strconv.Itoa(i)
	}
	var calls sync.WaitGroup
	for g := range goroutines {
		calls.Go(func() {
			for n := g; n < b.N; n += goroutines {
				if err := track(names[n%users], n); err != nil {
					b.Error(err)
				}
			}
		})
	}
	calls.Wait()
}

// cpu is the processor time of this process.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

const childEnv = "COMPARE_COLLECTOR"

// TestMain is the collector when the benchmark has started it as a child.
func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if strings.HasPrefix(r.URL.Path, "/far") {
			time.Sleep(50 * time.Millisecond) //nolint:forbidigo // it stands for a distance
		}
		_, _ = io.WriteString(w, `{"success":true}`)
	}))
	server.Start()
	_, _ = io.WriteString(os.Stdout, server.URL+"\n")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent is gone
}

// collector starts a server in a process of its own and returns its URL.
func collector(b *testing.B) string {
	b.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"=1")
	input, err := child.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	output, err := child.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := child.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = input.Close()
		_ = child.Wait()
	})
	text := make([]byte, 100)
	n, err := output.Read(text)
	if err != nil {
		b.Fatal(err)
	}
	url := strings.TrimSpace(string(text[:n]))
	if conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://")); err != nil {
		b.Fatal(err)
	} else {
		_ = conn.Close()
	}
	return url
}
