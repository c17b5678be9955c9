package testkit

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

// post returns the status and the body of the answer.
func post(ctx context.Context, url, body string, header http.Header) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header = header.Clone()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer), err
}

func TestReceiverKeepsBooks(t *testing.T) {
	r := NewReceiver(t)
	header := http.Header{"X-Team": {"growth"}}
	for _, body := range []string{`{"n":1}`, `{"n":2}`} {
		if status, _, err := post(t.Context(), r.URL+"/hook", body, header); err != nil || status != http.StatusOK {
			t.Fatalf("answered %d, %v, want 200", status, err)
		}
	}
	got := r.Wait(t, 2)
	if len(got) != 2 || string(got[0].Body) != `{"n":1}` || got[1].JSON(t)["n"] != 2.0 {
		t.Errorf("deliveries %+v, want both bodies in order", got)
	}
	if d := got[0]; d.Method != http.MethodPost || d.Path != "/hook" || d.Header.Get("X-Team") != "growth" || d.At.IsZero() {
		t.Errorf("delivery %+v, want method, path, header and time", d)
	}
}

func TestSigned(t *testing.T) {
	// printf %s '{"a":1}' | openssl dgst -sha1 -hmac secret
	const signature = "f8446672f033e4b2beafc5ca3a71eafcd2cafb6e"
	sign := func(value string) *Delivery {
		return &Delivery{Header: http.Header{"X-Signature": {value}}, Body: []byte(`{"a":1}`)}
	}
	if !sign(signature).Signed("secret") {
		t.Error("the right signature does not count")
	}
	if sign(signature).Signed("other") || sign(strings.ToUpper(signature)).Signed("secret") || sign("").Signed("secret") {
		t.Error("a wrong signature counts")
	}
}

func TestRespond(t *testing.T) {
	r := NewReceiver(t)
	r.Respond(Statuses(503, 500, 202))
	for _, want := range []int{503, 500, 202, 202} {
		if status, _, err := post(t.Context(), r.URL, "{}", nil); err != nil || status != want {
			t.Errorf("answered %d, %v, want %d", status, err, want)
		}
	}
	r.Respond(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { io.Copy(w, req.Body) }))
	if _, body, err := post(t.Context(), r.URL, "echo", nil); err != nil || body != "echo" {
		t.Errorf("the handler found the body %q, %v, want it unread", body, err)
	}
	r.Respond(nil)
	if status, _, err := post(t.Context(), r.URL, "{}", nil); err != nil || status != http.StatusOK {
		t.Errorf("answered %d, %v, want 200 again", status, err)
	}
}

func TestAHangingReceiverEndsWithItsTest(t *testing.T) {
	hung := make(chan struct{})
	t.Run("hang", func(t *testing.T) {
		r := NewReceiver(t)
		r.Respond(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			<-req.Context().Done()
			close(hung)
		}))
		go post(context.WithoutCancel(t.Context()), r.URL, "{}", nil)
		r.Wait(t, 1)
	})
	<-hung
}

func TestACutBodyIsNoDelivery(t *testing.T) {
	r := NewReceiver(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf"); err != nil {
		t.Fatal(err)
	}
	// Its own half closed, the client still hears that the handler gave up.
	if err = conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err = io.Copy(io.Discard, conn); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if got := r.Deliveries(); len(got) != 0 {
		t.Errorf("deliveries %+v, want none", got)
	}
}

func TestWaitGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := new(Receiver)
		r.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}")))
		got := verdictOf(t, func(tb *spy) { r.Wait(tb, 2) })
		if !strings.Contains(got, "2 deliveries") {
			t.Errorf("verdict %q, want it to name what was waited for", got)
		}
	})
}

func TestJSONFailsOnOtherBodies(t *testing.T) {
	got := verdictOf(t, func(tb *spy) { (&Delivery{Body: []byte("[1]")}).JSON(tb) })
	if !strings.Contains(got, "decode delivery") {
		t.Errorf("verdict %q, want a decoding error", got)
	}
}
