package ingest

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

// TestNothingTellsAKey sends a key by every way, good and bad, and looks for it
// in everything that comes out.
func TestNothingTellsAKey(t *testing.T) {
	const canary = "wk-canary-4711"
	s := start(t, testkit.Brokers(t))
	var out strings.Builder
	calls := []string{`{"userId":"u","writeKey":"` + canary + `"`, `{"batch":[{"type":"identify","userId":"u","writeKey":"` + canary + `"},{"type":"` + canary[:1] + `","writeKey":"` + canary + `"}],"writeKey":"` + canary + `"`}
	for _, path := range []string{"/v1/identify", "/v1/batch", "/v1/identify?writeKey=" + canary, "/" + canary} {
		for _, call := range calls {
			for _, end := range []string{`}`, `}}`, `,"event":` + canary + `}`} {
				for _, option := range []func(*http.Request){
					func(*http.Request) {},
					noAuth,
					func(r *http.Request) { r.SetBasicAuth(canary, canary) },
					with("Authorization", "Basic "+canary),
				} {
					a := s.post(t, path, call+end, option)
					out.WriteString(a.body)
					for name, value := range a.header {
						out.WriteString(name + strings.Join(value, ""))
					}
				}
			}
		}
	}
	accepted := int(s.value(t, "anabranch_ingest_events_total", "accepted"))
	if accepted == 0 {
		t.Fatal("nothing was accepted: the test shows nothing")
	}
	for _, text := range s.stored(t, accepted) {
		out.WriteString(text)
	}
	for name := range testkit.Counters(t, s.registry) {
		out.WriteString(name)
	}
	out.WriteString(s.log.String())
	if i := strings.Index(out.String(), canary); i >= 0 {
		t.Errorf("found …%s…", out.String()[max(0, i-200):i+50])
	}
}

// TestABodyThatEndsEarly closes the sending half of the connection.
func TestABodyThatEndsEarly(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const head = "POST /v1/identify HTTP/1.1\r\nHost: x\r\nAuthorization: Basic d2tfd2Vic2l0ZTo=\r\nContent-Length: 100\r\n\r\n"
	if _, err = conn.Write([]byte(head + oneCall)); err != nil {
		t.Fatal(err)
	}
	if err = conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestTimeout {
		t.Errorf("got %s", resp.Status)
	}
	s.stored(t, 0)
}
