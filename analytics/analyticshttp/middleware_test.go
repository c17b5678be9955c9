//go:build go1.26

package analyticshttp_test

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/anabranch/anabranch/analytics"
	"github.com/anabranch/anabranch/analytics/analyticshttp"
	"github.com/anabranch/anabranch/analytics/analyticstest"
)

func TestMiddleware(t *testing.T) {
	recorder := analyticstest.NewRecorder(t, analytics.WithBeforeEnqueue(analyticshttp.Enrich))
	handler := analyticshttp.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		err := recorder.Client.Enqueue(r.Context(), analytics.Track{UserId: "u1", Event: "Viewed", Context: map[string]any{"locale": "own"}})
		if err != nil {
			t.Error(err)
		}
	}))
	for _, change := range []func(*http.Request){
		func(*http.Request) {},
		func(r *http.Request) {
			r.RemoteAddr = "203.0.113.9"
			r.Header = http.Header{}
		},
	} {
		r := httptest.NewRequest(http.MethodGet, "https://shop.example.com/cart?token=canary#here", nil)
		r.RemoteAddr = "[2001:db8::1]:1234"
		r.Header.Set("User-Agent", "agent/1.0")
		r.Header.Set("Accept-Language", "de-CH;q=0.9, en")
		r.Header.Set("Referer", "https://user:canary@search.example.com/find?q=canary")
		change(r)
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	if err := recorder.Client.Enqueue(t.Context(), analytics.Identify{UserId: "u1"}); err != nil {
		t.Error(err)
	}
	got := recorder.Messages()
	page := map[string]any{"path": "/cart", "url": "https://shop.example.com/cart"}
	want := []map[string]any{
		{"ip": "2001:db8::1", "userAgent": "agent/1.0", "locale": "own", "page": map[string]any{"path": "/cart", "url": "https://shop.example.com/cart", "referrer": "https://search.example.com/find"}},
		{"ip": "203.0.113.9", "locale": "own", "page": page},
		nil,
	}
	for i, m := range got {
		if !reflect.DeepEqual(m.Context, want[i]) {
			t.Errorf("got  %v\nwant %v", m.Context, want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d messages", len(got))
	}
}

// A call without one of its own has the request's locale, cut to the first.
func TestLocale(t *testing.T) {
	handler := analyticshttp.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if got := analyticshttp.FromContext(r.Context())["locale"]; got != "de-CH" {
			t.Errorf("%v", got)
		}
	}))
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Accept-Language", "de-CH;q=0.9, en")
	handler.ServeHTTP(httptest.NewRecorder(), r)
}
