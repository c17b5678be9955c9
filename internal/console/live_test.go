package console

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/console/internal/tail"
	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestLive: the newest calls, by what the person asked for, and where more come from.
func TestLive(t *testing.T) {
	t.Parallel()
	var got tail.Wanted
	c := newConsole(t, func(set *Settings) {
		was := set.Questions.Newest
		set.Questions.Newest = func(ctx context.Context, of tail.Wanted, say func(string)) ([]*tail.Call, error) {
			got = of
			return was(ctx, of, say)
		}
	})
	page := look(t, c, Path+"/live?source=+website+&type=track&event=Signed+Up&user=a%26b&q=+x")
	if want := (tail.Wanted{Source: "website", Type: schemas.TypeTrack, Event: "Signed Up", User: "a&b", Text: " x"}); got != want {
		t.Errorf("asked for %+v, want %+v", got, want)
	}
	for _, want := range []string{
		`id="c3-1704"`, "2026-11-21 12:00:00.000Z", "/console/event?id=Signed", "/console/call?at=3-1704", "at most 100 are shown",
		`data-stream="/console/live/calls?event=Signed&#43;Up&amp;q=&#43;x&amp;source=website&amp;type=track&amp;user=a%26b"`, `<option value="app">`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s:\n%s", want, page)
		}
	}
	for _, query := range []string{"type=none", "user=" + strings.Repeat("x", 1_001), "q=" + strings.Repeat("x", 1_001)} {
		for _, path := range []string{"/live?", "/live/calls?"} {
			if w := serve(c, request(t, http.MethodGet, Path+path+query, "")); w.Code != http.StatusBadRequest {
				t.Errorf("%s%.30s was answered %d", path, query, w.Code)
			}
		}
	}
}

// TestHowFarBackATraceLooks: as far as the call, and for as long as the page may be open.
func TestHowFarBackATraceLooks(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]string{0: "24h", 22 * time.Hour: "24h", 24 * time.Hour: "168h", 167*time.Hour + time.Minute: "720h", 10_000 * time.Hour: "720h"} {
		if got := reaching(age); got != want {
			t.Errorf("what is %s old is looked for in %s, want %s", age, got, want)
		}
	}
}

// TestOneCall is shown as it is stored, with a command that a shell reads as one word.
func TestOneCall(t *testing.T) {
	t.Parallel()
	page := look(t, newConsole(t, nil), Path+"/call?at=3-1704")
	for _, want := range []string{"9007199254740993", "$ANABRANCH_URL/v1/track", "$WRITE_KEY:", "/console/event?id=Signed", "raw-events[3]@1704"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	for text := range naughty() {
		call := sampleCall(text)
		_, word, _ := strings.Cut(curlOf(call), "--data-raw ")
		read, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+word).Output()
		if err != nil || string(read) != string(call.Value) {
			t.Errorf("%.40q: a shell reads %.80q, %v", text, read, err)
		}
	}
	if got := curlOf(&tail.Call{Type: schemas.TypeDelete}); got != "" {
		t.Errorf("a delete call is sent by %s", got)
	}
	for _, at := range []string{"", "3", "3-", "-1-2", "a-b"} {
		if w := serve(newConsole(t, nil), request(t, http.MethodGet, Path+"/call?at="+at, "")); w.Code != http.StatusBadRequest {
			t.Errorf("%q was answered %d", at, w.Code)
		}
	}
}

// pipes is a listener without a network.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

type pipeAddr struct{}

func (pipeAddr) Network() string { return "tcp" }
func (pipeAddr) String() string  { return "127.0.0.1:8081" }

// piped has the peer's address, by which a visitor is known.
type piped struct{ net.Conn }

func (piped) RemoteAddr() net.Addr { return pipeAddr{} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return piped{c}, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (*pipes) Addr() net.Addr { return pipeAddr{} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p.accepted <- theirs
	return ours, nil
}

// tails serves a console as a process does, whose calls a test sends.
type tails struct {
	*Console

	client *http.Client
	send   chan int
	end    func() // of the console
	stop   func() // of its server
}

func newTails(t *testing.T, change func(*Settings)) *tails {
	t.Helper()
	s := &tails{send: make(chan int)}
	s.Console = newConsole(t, func(set *Settings) {
		set.Questions.Follow = func(ctx context.Context, _ tail.From, to tail.Feed) error {
			for {
				select {
				case i := <-s.send:
					r := sampleRecord(i, "Signed Up")
					r.Timestamp = time.Now()
					to.Each(r, false)
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		if change != nil {
			change(set)
		}
	})
	l := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
	server := service.NewHTTPServer("admin", l, s.Handler(), slog.New(slog.DiscardHandler))
	s.stop = testkit.Start(t, server.Run)
	s.end = testkit.Start(t, s.Run)
	s.client = &http.Client{Transport: &http.Transport{DialContext: l.dial}}
	t.Cleanup(s.client.CloseIdleConnections)
	return s
}

// open returns what a tail is sent, line by line, until it ends.
func (s *tails) open(t *testing.T, cookie *http.Cookie) <-chan string {
	t.Helper()
	r := request(t, http.MethodGet, livePath, "")
	if cookie != nil {
		r.AddCookie(cookie)
	}
	r.RequestURI = ""
	w, err := s.client.Do(r) //nolint:bodyclose // its reader closes it
	if err != nil {
		t.Fatal(err)
	}
	if w.StatusCode != http.StatusOK || w.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("a tail was answered %s with %v", w.Status, w.Header)
	}
	lines := make(chan string, 10_000)
	go func() {
		defer close(lines)
		for text := bufio.NewScanner(w.Body); text.Scan(); {
			lines <- text.Text()
		}
		_ = w.Body.Close()
	}()
	return lines
}

// came is what a tail was sent by now, and whether it goes on.
func came(lines <-chan string) (text string, open bool) {
	synctest.Wait()
	for {
		select {
		case line, more := <-lines:
			if !more {
				return text, false
			}
			text += line + "\n"
		default:
			return text, true
		}
	}
}

// TestATail is told of each call, for longer than a request may take to read, and hears from
// the process when nothing comes.
func TestATail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newTails(t, nil)
		lines := s.open(t, nil)
		for i := range 20 {
			s.send <- i
			virtual.Sleep(liveEvery)
			text, open := came(lines)
			if !open || !strings.Contains(text, fmt.Sprintf("event: calls\ndata: <tr id=\"c3-%d\"", 1_704+i)) || !strings.Contains(text, fmt.Sprintf(": %d calls came", i+1)) {
				t.Fatalf("call %d: %q, open: %t", i, text, open)
			}
			virtual.Sleep(5 * time.Second)
		}
		if text, open := came(lines); !open || text != "" {
			t.Errorf("nothing is new, and it was sent %q, open: %t", text, open)
		}
		virtual.Sleep(liveAlive)
		if text, open := came(lines); !open || text != ":\n\n" {
			t.Errorf("when nothing comes it was sent %q, open: %t", text, open)
		}
		began := time.Now()
		s.end()
		if _, open := came(lines); open || time.Since(began) != 0 {
			t.Error("the process ends, and a tail goes on")
		}
		s.stop()
		if time.Since(began) > time.Second {
			t.Errorf("the server ends after %s", time.Since(began))
		}
	})
}

// TestATailOfASession ends with it.
func TestATailOfASession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newTails(t, func(set *Settings) { set.Open = false })
		if w := serve(s.Console, request(t, http.MethodGet, livePath, "")); w.Code != http.StatusUnauthorized {
			t.Errorf("who has not logged in was answered %d", w.Code)
		}
		for name, end := range map[string]func(*http.Cookie){
			"a logout":     func(cookie *http.Cookie) { serve(s.Console, with(request(t, http.MethodPost, logoutPath, ""), cookie)) },
			"twelve hours": func(*http.Cookie) { virtual.Sleep(12 * time.Hour) },
		} {
			_, cookie := enter(t, s.Console, "token="+token.Reveal())
			lines := s.open(t, cookie)
			virtual.Sleep(time.Minute)
			if _, open := came(lines); !open {
				t.Fatalf("%s: the tail has ended before it", name)
			}
			end(cookie)
			virtual.Sleep(liveEvery)
			if text, open := came(lines); open || !strings.HasSuffix(text, "event: over\ndata: \n\n") {
				t.Errorf("%s: it was sent %q, open: %t", name, text[max(0, len(text)-100):], open)
			}
		}
		s.end()
		s.stop()
	})
}

// TestATailThatNobodyReads is ended, and holds up nobody.
func TestATailThatNobodyReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newTails(t, nil)
		r := request(t, http.MethodGet, livePath, "")
		r.RequestURI = ""
		w, err := s.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Body.Close()
		lines := s.open(t, nil)
		for i := range 50 {
			s.send <- i
			virtual.Sleep(time.Second)
		}
		if text, open := came(lines); !open || strings.Count(text, "<tr ") != 50 {
			t.Errorf("who reads was shown %d calls of 50, open: %t", strings.Count(text, "<tr "), open)
		}
		if _, err = io.Copy(io.Discard, w.Body); err == nil {
			t.Error("the tail that nobody reads has ended in an orderly way")
		}
		s.end()
		s.stop()
	})
}

// TestEvents of a stream: whatever a text holds, it stays within its event.
func TestServerSentEvents(t *testing.T) {
	t.Parallel()
	if got, want := string(event([]byte("x"), "calls", []byte("a\nevent: over\n\nb"))), "xevent: calls\ndata: a\ndata: event: over\ndata: \ndata: b\n\n"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	c := newConsole(t, nil)
	for text, never := range naughty() {
		row := string(c.drawCall(sampleCall(text)))
		if strings.Contains(row, never) || strings.ContainsAny(row, "\r\u2028") || !strings.HasPrefix(row, `<tr id="c3-1704">`) || !strings.HasSuffix(row, "</tr>") {
			t.Errorf("%.40q is shown as %q", text, row)
		}
	}
}

// TestCountsOfATail are what was counted, and say why no more may come.
func TestCountsOfATail(t *testing.T) {
	t.Parallel()
	got := countsOf("12:00", &tail.News{Counts: tail.Counts{Came: 12_040, Wanted: 300, LeftOut: 100}, Problem: tail.ErrClosed})
	want := countsView{Since: "12:00", Came: "12,040", Wanted: "300", Shown: "200", LeftOut: "100", Problem: "The process is stopping."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the view differs (-want +got):\n%s", diff)
	}
}

// calls are users whose calls a test writes to raw-events.
func calls(t *testing.T, b *Brokers, users ...string) {
	t.Helper()
	for i, user := range users {
		r := sampleRecord(i, user)
		r.Partition, r.Offset, r.Timestamp = 0, 0, time.Now()
		if err := b.Topics.Client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCallsFromBrokers: the newest, and one of them.
func TestCallsFromBrokers(t *testing.T) {
	t.Parallel()
	b := newBrokers(t)
	if err := b.Topics.Ensure(t.Context(), schemas.TopicRawEvents); err != nil {
		t.Fatal(err)
	}
	calls(t, b, "ann", "bob", "cid", "ann")
	q := FromBrokers(b)
	for user, want := range map[string]int{"": 4, "bob": 1, "ann": 2, "eve": 0} {
		all, err := q.Newest(t.Context(), tail.Wanted{User: user}, func(string) {})
		if err != nil || len(all) != want || want > 0 && all[0].At.Before(all[want-1].At) {
			t.Fatalf("of %q there are %d, %v", user, len(all), err)
		}
		for _, one := range all {
			got, err := q.Call(t.Context(), CallAt{one.Partition, one.Offset})
			if err != nil || got.User != one.User || !strings.Contains(string(got.Value), "9007199254740993") {
				t.Errorf("one call: %+v, %v", got, err)
			}
		}
	}
	for _, at := range []CallAt{{Partition: 7}, {0, 99}, {1, 99}} {
		if _, err := q.Call(t.Context(), at); err == nil {
			t.Errorf("there is a call at %+v", at)
		}
	}
}

// TestFollowing: each call that comes is told once and counted, what stood there a moment ago
// is told too.
func TestFollowing(t *testing.T) {
	t.Parallel()
	b := newBrokers(t)
	if err := b.Topics.Ensure(t.Context(), schemas.TopicRawEvents); err != nil {
		t.Fatal(err)
	}
	calls(t, b, "ann", "bob", "cid", "ann")
	hub := tail.New(slog.New(slog.DiscardHandler), FromBrokers(b).Follow)
	defer hub.Close()
	followed, err := hub.Join(t.Context(), tail.Wanted{})
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int)
	told := func(n int) func() bool {
		return func() bool {
			for _, c := range followed.Take().Calls {
				got[c.User]++
				n--
			}
			return n <= 0
		}
	}
	testkit.Until(t, told(4), "what stood there a moment ago")
	if counted := followed.Take().Counts; counted != (tail.Counts{}) {
		t.Errorf("what stood there is counted: %+v", counted)
	}
	calls(t, b, slices.Repeat([]string{"bob"}, 20)...)
	testkit.Until(t, told(20), "the calls that came")
	if diff := cmp.Diff(map[string]int{"ann": 2, "bob": 21, "cid": 1}, got); diff != "" {
		t.Errorf("calls by user (-want +got):\n%s", diff)
	}
	if counted := followed.Take().Counts; counted != (tail.Counts{Came: 20, Wanted: 20}) {
		t.Errorf("counted %+v", counted)
	}
}
