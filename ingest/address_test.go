package ingest

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/testkit"
)

// TestAddressesOfClients walks the ways in which a call gets its context.ip, and
// does not (protocol, 11). The proxy of the test is the test.
func TestAddressesOfClients(t *testing.T) {
	s := start(t, testkit.Brokers(t), func(c *Config) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	page, client := with("Origin", "https://shop.example.com"), with("X-Forwarded-For", "198.51.100.9, 203.0.113.7")
	var want []string
	for _, c := range []struct {
		name, path, context string // of the call
		options             []func(*http.Request)
		stored              string
	}{
		{"a server", "/v1/i", `{}`, nil, `{}`},
		{"a server behind a proxy", "/v1/i", `{}`, []func(*http.Request){client}, `{}`},
		{"a server that asks for it", "/v1/i", `{"direct":true}`, nil, `{"direct":true,"ip":"127.0.0.1"}`},
		{"a device that asks for it, behind a proxy", "/v1/i", `{"direct":true}`, []func(*http.Request){client}, `{"direct":true,"ip":"203.0.113.7"}`},
		{"a page", "/v1/i", `{}`, []func(*http.Request){page}, `{"ip":"127.0.0.1"}`},
		{"a page behind a proxy", "/v1/i", `{"locale":"de"}`, []func(*http.Request){page, client}, `{"locale":"de","ip":"203.0.113.7"}`},
		{"a page that has its own", "/v1/i", `{"ip":"0.0.0.0"}`, []func(*http.Request){page, client}, `{"ip":"0.0.0.0"}`},
		{"a page that wants none", "/v1/i", `{"ip":null}`, []func(*http.Request){page, client}, `{"ip":null}`},
		{"a beacon", "/beacon/v1/batch", `{"a":1}`, []func(*http.Request){client}, `{"a":1,"ip":"203.0.113.7"}`},
	} {
		call := `{"type":"identify","userId":"u","messageId":"m","context":` + c.context + `}`
		if strings.HasSuffix(c.path, "batch") {
			call = `{"batch":[` + call + `]}`
		}
		if got := s.post(t, c.path, call, c.options...); got.body != success {
			t.Errorf("%s: got %d %s", c.name, got.status, got.body)
		}
		want = append(want, `u source=website type=identify message-id=m origin=api {"type":"identify","userId":"u","messageId":"m","context":`+c.stored+`,`+tail)
	}
	if diff := cmp.Diff(want, s.stored(t, len(want))); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

// TestNobodyIsTrustedUnlessConfigured has a client make an address up.
func TestNobodyIsTrustedUnlessConfigured(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	s.post(t, "/v1/i", oneCall, with("Origin", "https://shop.example.com"), with("X-Forwarded-For", "203.0.113.7"), with("Forwarded", "for=203.0.113.7"))
	if stored := s.stored(t, 1)[0]; !strings.Contains(stored, `"context":{"ip":"127.0.0.1"}`) {
		t.Errorf("stored %s", stored)
	}
	if !strings.Contains(s.log.String(), "add the proxy's network to INGEST_TRUSTED_PROXIES") {
		t.Errorf("logged %s", s.log)
	}
}

func TestWhoLooksLikeAProxy(t *testing.T) {
	for address, want := range map[string]bool{"127.0.0.1": true, "10.1.2.3": true, "fd00::1": true, "::1": true, "203.0.113.7": false, "2001:db8::7": false} {
		for _, header := range []string{"X-Forwarded-For", "Forwarded", "Via"} {
			r := &http.Request{Header: http.Header{header: {"x"}}}
			if got := namesAnother(r, netip.MustParseAddr(address)); got != (want && header != "Via") {
				t.Errorf("%s with %s: got %v", address, header, got)
			}
		}
	}
	if namesAnother(&http.Request{}, netip.Addr{}) {
		t.Error("an address that is not known looks like a proxy's")
	}
}

// TestTheLogNamesTheClient looks for the address that a trusted proxy reports.
func TestTheLogNamesTheClient(t *testing.T) {
	s := start(t, testkit.Fake(t), func(c *Config) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	s.post(t, "/v1/i", oneCall, noAuth, with("Forwarded", `for="[2001:db8::7]:4711"`))
	if !strings.Contains(s.log.String(), "peer=2001:db8::7 ") {
		t.Errorf("got %s", s.log)
	}
}
