package clienttest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anabranch/anabranch/analytics"
)

// rapids is what lies between a client and the collection API: it passes most
// requests on, and to the others does what networks and proxies do.
type rapids struct {
	*httptest.Server

	api string

	mu     sync.Mutex
	dice   *rand.Rand
	faults map[string]int
	drawn  int // of faults, those that every run has
	// cut has the messages that the API has taken and whose sender was not told:
	// only these may arrive more than once.
	cut map[string]bool
}

func newRapids(t *testing.T, api string) *rapids {
	t.Helper()
	r := &rapids{api: api, dice: rand.New(rand.NewPCG(6, 2026)), faults: map[string]int{}, cut: map[string]bool{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(func() {
		r.CloseClientConnections()
		r.Close()
	})
	return r
}

// faults are what may happen to a request, each of them once at first, and how many of
// a thousand requests it happens to then. A 429 stops the whole client for a second,
// and a stall takes its timeout, so there are few of these.
var faults = []struct {
	name  string
	share int
}{{"503", 80}, {"429", 2}, {"reset", 60}, {"answer cut", 50}, {"stall", 6}, {"answer stalled", 4}}

const (
	// most is how many bytes of a request pass: the rapids are narrower than the API.
	most = 8 << 10
	// sick is how many requests with a bad message fail; then it is one as any other.
	sick = 14
)

// fault draws one for a request.
func (r *rapids) fault(body, plain []byte) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := ""
	switch draw := r.dice.IntN(1000); {
	case len(body) > most:
		name = "413"
	case bytes.Contains(plain, []byte(`"bad":true`)) && r.faults["500"] < sick:
		name = "500"
	case r.drawn < len(faults):
		name = faults[r.drawn].name
		r.drawn++
	default:
		for _, f := range faults {
			if draw -= f.share; draw < 0 {
				name = f.name
				break
			}
		}
	}
	if name != "" {
		r.faults[name]++
	}
	return name
}

func (r *rapids) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	plain := inflate(req, body)
	switch fault := r.fault(body, plain); fault {
	case "413", "500", "503":
		status, _ := strconv.Atoi(fault)
		w.WriteHeader(status)
	case "429":
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	case "reset":
		reset(w)
	case "stall":
		<-req.Context().Done()
	default:
		status, answer := r.pass(req, body, plain)
		if fault != "" {
			r.remember(plain)
		}
		switch fault {
		case "answer cut":
			reset(w)
		case "answer stalled":
			<-req.Context().Done()
		default:
			w.WriteHeader(status)
			_, _ = w.Write(answer)
		}
	}
}

// inflate returns a body as it was before it was compressed.
func inflate(req *http.Request, body []byte) []byte {
	if req.Header.Get("Content-Encoding") != "gzip" {
		return body
	}
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil
	}
	plain, _ := io.ReadAll(reader)
	return plain
}

// pass makes the request to the collection API.
func (r *rapids) pass(req *http.Request, body, plain []byte) (int, []byte) {
	onward, err := http.NewRequestWithContext(req.Context(), req.Method, r.api+req.URL.Path, bytes.NewReader(body))
	if err != nil {
		return http.StatusBadGateway, nil
	}
	onward.Header = req.Header.Clone()
	resp, err := http.DefaultClient.Do(onward)
	if err != nil {
		r.remember(plain) // it may have been taken
		return http.StatusBadGateway, nil
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, answer
}

func (r *rapids) remember(body []byte) {
	var sent struct {
		Batch []struct {
			MessageID string `json:"messageId"`
		} `json:"batch"`
	}
	_ = json.Unmarshal(body, &sent)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range sent.Batch {
		r.cut[m.MessageID] = true
	}
}

// reset ends the connection with RST.
func reset(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// ledger is a webhook endpoint that counts each message and keeps the order in
// which each user's first came.
type ledger struct {
	mu     sync.Mutex
	counts map[string]int
	users  map[string][]int
	news   chan struct{} // capacity 1: there is another message
}

func (l *ledger) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	var call struct {
		MessageID  string `json:"messageId"`
		UserID     string `json:"userId"`
		Properties struct {
			N int `json:"n"`
		} `json:"properties"`
	}
	if json.NewDecoder(req.Body).Decode(&call) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts[call.MessageID]++; l.counts[call.MessageID] == 1 {
		l.users[call.UserID] = append(l.users[call.UserID], call.Properties.N)
		select {
		case l.news <- struct{}{}:
		default:
		}
	}
}

// await waits until so many messages have arrived, as long as more of them do.
func (l *ledger) await(t *testing.T, messages int) {
	t.Helper()
	const patience = 30 * time.Second
	idle := time.NewTimer(patience)
	defer idle.Stop()
	for {
		l.mu.Lock()
		arrived := len(l.counts)
		l.mu.Unlock()
		if arrived >= messages {
			return
		}
		select {
		case <-l.news:
			idle.Reset(patience)
		case <-idle.C:
			t.Fatalf("%d of %d messages have arrived, and no more in %s", arrived, messages, patience)
		}
	}
}

// TestThroughRapids sends messages from eight goroutines through all that
// can go wrong before the collection API. Each one that a call has taken arrives at the webhook, in
// its user's order, and once, unless its sender was never told that it had arrived.
// ANABRANCH_TEST_MESSAGES sets how many there are; 10,000 unless set.
func TestThroughRapids(t *testing.T) {
	t.Parallel()
	messages := 10_000
	if text := os.Getenv("ANABRANCH_TEST_MESSAGES"); text != "" {
		var err error
		if messages, err = strconv.Atoi(text); err != nil {
			t.Fatalf("ANABRANCH_TEST_MESSAGES: %v", err)
		}
	}
	books := &ledger{counts: map[string]int{}, users: map[string][]int{}, news: make(chan struct{}, 1)}
	receiver := httptest.NewServer(books)
	t.Cleanup(receiver.Close)
	api := start(t, fmt.Sprintf(`
sources:
  - {id: shop, name: Shop, writeKey: wk_shop}
destinations:
  - {id: books, type: webhooks, name: Books, sources: [shop], endpoints: [{url: %q}]}
`, receiver.URL))
	front := newRapids(t, api)

	stats := sendAll(t, front.URL, messages)
	books.await(t, messages)
	if stats.Sent != uint64(messages) || stats.Retries == 0 {
		t.Errorf("the client has counted %+v", stats)
	}
	books.mu.Lock()
	defer books.mu.Unlock()
	front.mu.Lock()
	defer front.mu.Unlock()
	for _, fault := range []string{"413", "500", "503", "429", "reset", "answer cut", "stall", "answer stalled"} {
		if front.faults[fault] == 0 && messages >= 10_000 {
			t.Errorf("there was no %q", fault)
		}
	}
	twice := 0
	for id, count := range books.counts {
		if count > 1 {
			twice++
		}
		if count > 1 && !front.cut[id] {
			t.Errorf("%s arrived %d times, and its sender had its answer", id, count)
		}
	}
	inOrder(t, books.users)
	t.Logf("%d messages, %d requests, faults %v, %d arrived twice", messages, stats.Requests, front.faults, twice)
}

// sendAll has eight goroutines call, each for users of its own, and closes the
// client.
func sendAll(t *testing.T, url string, messages int) analytics.Stats {
	t.Helper()
	client, err := analytics.NewClient("wk_shop",
		analytics.WithEndpoint(url), analytics.WithRequestTimeout(2*time.Second), analytics.WhenFull(analytics.Block), analytics.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	const goroutines, users = 8, 100
	var calls sync.WaitGroup
	for g := range goroutines {
		calls.Go(func() {
			for n := g; n < messages; n += goroutines {
				user := fmt.Sprintf("u%d.%d", g, n/goroutines%users)
				err := client.Track(&analytics.Track{UserId: user, Event: "Clicked", MessageId: "m" + strconv.Itoa(n), Properties: map[string]any{"n": n, "bad": n == messages/3}})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	calls.Wait()
	if unsent, err := client.CloseContext(t.Context()); err != nil || len(unsent) > 0 {
		t.Errorf("close: %v, %d messages unsent", err, len(unsent))
	}
	return client.Stats()
}

func inOrder(t *testing.T, users map[string][]int) {
	t.Helper()
	for user, list := range users {
		for i := 1; i < len(list); i++ {
			if list[i] < list[i-1] {
				t.Errorf("%s: message %d arrived after %d", user, list[i], list[i-1])
			}
		}
	}
}
