package http1

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestEndpoints(t *testing.T) {
	const agent = "User-Agent: Anabranch/1.0\r\n"
	tests := []struct {
		url, address, line, host string
	}{
		{"http://hooks.example.com", "hooks.example.com:80", "POST / HTTP/1.1", "hooks.example.com"},
		{"https://hooks.example.com", "hooks.example.com:443", "POST / HTTP/1.1", "hooks.example.com"},
		{"https://Hooks.Example.com:8443/a%2Fb?c=d#e", "Hooks.Example.com:8443", "POST /a%2Fb?c=d HTTP/1.1", "Hooks.Example.com:8443"},
		{"http://u:p@hooks.example.com:/?", "hooks.example.com:80", "POST /? HTTP/1.1", "hooks.example.com"},
		{"http://bücher.example:8080/ü", "xn--bcher-kva.example:8080", "POST /%C3%BC HTTP/1.1", "xn--bcher-kva.example:8080"},
		{"http://①②⑦.⓪.⓪.①/", "127.0.0.1:80", "POST / HTTP/1.1", "127.0.0.1"},
		{"http://BÜCHER.example/", "xn--bcher-kva.example:80", "POST / HTTP/1.1", "xn--bcher-kva.example"},
		{"http://[::1]:8080/", "[::1]:8080", "POST / HTTP/1.1", "[::1]:8080"},
		{"http://[fe80::1%25lo]/", "[fe80::1%lo]:80", "POST / HTTP/1.1", "[fe80::1]"},
	}
	for _, test := range tests {
		at, err := url.Parse(test.url)
		if err != nil {
			t.Fatal(err)
		}
		e, err := NewEndpoint(at, http.Header{"User-Agent": {"Anabranch/1.0"}, "X-Team": {"a\tb"}, "Content-Length": {"9"}, "Transfer-Encoding": {"chunked"}})
		if err != nil {
			t.Errorf("%s: %v", test.url, err)
			continue
		}
		if e.address != test.address {
			t.Errorf("%s: address %s, want %s", test.url, e.address, test.address)
		}
		want := test.line + "\r\nHost: " + test.host + "\r\n" + agent + "X-Team: a\tb\r\n"
		if got := string(e.appendRequest(nil, []byte("{}"), "")); got != want+"Content-Length: 2\r\n\r\n{}" {
			t.Errorf("%s: %q", test.url, got)
		}
		if got := string(e.appendRequest([]byte("kept"), nil, "abc")); got != "kept"+want+"X-Signature: abc\r\nContent-Length: 0\r\n\r\n" {
			t.Errorf("%s: %q", test.url, got)
		}
	}
}

func TestHeadersThatWouldBeMore(t *testing.T) {
	at := &url.URL{Scheme: "http", Host: "hooks.example.com"}
	for _, value := range []string{"a\r\nX: y", "a\nb", "a\x00", "\x7f"} {
		e, err := NewEndpoint(at, http.Header{"X-Canary": {value}})
		if err == nil || strings.Contains(err.Error(), "Canary") {
			t.Errorf("%q: %v, error %v", value, e != nil, err)
		}
	}
}
