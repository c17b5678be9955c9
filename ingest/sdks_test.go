package ingest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/test/testkit"
)

// sdk is a request as one of the SDKs makes it, with what is peculiar to it.
type sdk struct {
	name, path string
	header     map[string]string
	body       string
	gzip       bool
	stored     []string // as render shows records
}

const (
	basicAuth = "Basic d2tfd2Vic2l0ZTo=" // wk_website:
	agent     = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"
)

// sdks has a row for each SDK that the protocol names, in its order.
func sdks() []sdk {
	return []sdk{
		{
			name: "Go 2.1.1", path: "/v1/batch", header: map[string]string{"Authorization": basicAuth, "Content-Type": "application/json"},
			body:   `{"context":{"library":{"name":"analytics-go"}},"batch":[{"userId":"u","event":"E","type":"track","messageId":"1","timestamp":"2026-11-21T12:59:58+0100"}],"messageId":"b","sentAt":"2026-11-21T12:59:59+0100"}`,
			stored: []string{`u source=website type=track message-id=1 origin=api {"userId":"u","event":"E","type":"track","messageId":"1","timestamp":"2026-11-21T11:59:59.000Z","context":{"library":{"name":"analytics-go"}},"originalTimestamp":"2026-11-21T11:59:58.000Z","sentAt":"2026-11-21T11:59:59.000Z","receivedAt":"2026-11-21T12:00:00.000Z"}`},
		},
		{
			name: "Go 3.3.0", path: "/v1/batch", header: map[string]string{"Authorization": basicAuth},
			body:   `{"messageId":"b","sentAt":"2026-11-21T12:00:00.123456789Z","batch":[{"type":"group","messageId":"1","userId":"u","groupId":"g","timestamp":"2026-11-21T11:59:59.123456789Z","integrations":{"all":false,"Webhooks":true}}]}`,
			stored: []string{`u source=website type=group message-id=1 integrations={"all":false,"Webhooks":true} origin=api {"type":"group","messageId":"1","userId":"u","groupId":"g","timestamp":"2026-11-21T11:59:59.000Z","integrations":{"all":false,"Webhooks":true},"originalTimestamp":"2026-11-21T11:59:59.123Z","sentAt":"2026-11-21T12:00:00.123Z","receivedAt":"2026-11-21T12:00:00.000Z"}`},
		},
		{
			name: "Node", path: "/v1/batch", header: map[string]string{"Authorization": basicAuth, "X-Retry-Count": "2", "Sec-Fetch-Mode": "cors"},
			body:   `{"batch":[{"type":"page","userId":"u","messageId":"1","integrations":{},"_metadata":{"jsRuntime":"node"}}],"writeKey":"wk_website"}`,
			stored: []string{`u source=website type=page message-id=1 origin=api {"type":"page","userId":"u","messageId":"1","integrations":{},"_metadata":{"jsRuntime":"node"},` + tail},
		},
		{
			name: "Node, legacy", path: "/v1/batch", header: map[string]string{"Authorization": basicAuth},
			body:   `{"batch":[{"type":"track","event":"E","userId":"u","messageId":"1","timestamp":"2026-11-21T11:59:50.000Z"}],"timestamp":"2026-11-21T12:00:00.000Z","sentAt":"2026-11-21T12:00:00.000Z"}`,
			stored: []string{`u source=website type=track message-id=1 origin=api {"type":"track","event":"E","userId":"u","messageId":"1","timestamp":"2026-11-21T11:59:50.000Z","originalTimestamp":"2026-11-21T11:59:50.000Z","sentAt":"2026-11-21T12:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"}`},
		},
		{
			name: "browser 1.8x", path: "/v1/t", header: map[string]string{"Authorization": basicAuth, "Content-Type": "text/plain", "Origin": shop, "User-Agent": agent},
			body:   `{"type":"track","event":"E","userId":null,"anonymousId":"a","messageId":"1","context":{"locale":"en"},"writeKey":"wk_website"}`,
			stored: []string{`a source=website type=track message-id=1 origin=api {"type":"track","event":"E","anonymousId":"a","messageId":"1","context":{"locale":"en","ip":"127.0.0.1"},` + tail},
		},
		{
			name: "browser 1.8x, batching", path: "/v1/b", header: map[string]string{"Authorization": basicAuth, "Content-Type": "text/plain", "Origin": shop},
			body:   `{"writeKey":"wk_website","batch":[{"type":"page","userId":"u","messageId":"1","writeKey":"wk_website"}],"sentAt":"2026-11-21T12:00:00.000Z"}`,
			stored: []string{`u source=website type=page message-id=1 origin=api {"type":"page","userId":"u","messageId":"1","context":{"ip":"127.0.0.1"},"timestamp":"2026-11-21T12:00:00.000Z","sentAt":"2026-11-21T12:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"}`},
		},
		{
			name: "browser 1.8x, of itself", path: "/v1/m", header: map[string]string{"Content-Type": "text/plain", "Origin": shop},
			body: `{"series":[{"type":"Counter","metric":"analytics_js.invoke","value":1,"tags":{}}]}`,
		},
		{
			name: "browser 1.5x", path: "/v1/i", header: map[string]string{"Content-Type": "text/plain", "Origin": shop},
			body:   `{"type":"identify","userId":"u","traits":{},"messageId":"1","context":{"ip":"0.0.0.0"},"writeKey":"wk_website"}`,
			stored: []string{`u source=website type=identify message-id=1 origin=api {"type":"identify","userId":"u","traits":{},"messageId":"1","context":{"ip":"0.0.0.0"},` + tail},
		},
		{
			name: "Python 2.3", path: "/v1/batch", header: map[string]string{"Content-Type": "application/json"},
			body:   `{"batch": [{"type": "identify", "anonymousId": null, "userId": "u", "messageId": "1", "timestamp": "2012-12-02T00:30:08.276000+00:00"}], "writeKey": "wk_website"}`,
			stored: []string{`u source=website type=identify message-id=1 origin=api {"type":"identify","userId":"u","messageId":"1","timestamp":"2012-12-02T00:30:08.276Z","originalTimestamp":"2012-12-02T00:30:08.276Z","receivedAt":"2026-11-21T12:00:00.000Z"}`},
		},
		{
			name: "Python 2.3, gzip", path: "/v1/batch", header: map[string]string{"Content-Encoding": "gzip"}, gzip: true,
			body:   `{"batch": [{"type": "identify", "userId": 17, "messageId": "1"}], "writeKey": "wk_website"}`,
			stored: []string{`17 source=website type=identify message-id=1 origin=api {"type":"identify","userId":"17","messageId":"1",` + tail},
		},
		{
			name: "Ruby 2.5", path: "/v1/import", header: map[string]string{"Authorization": basicAuth},
			body:   `{"sentAt":"2026-11-21T12:00:00.000Z","batch":[{"type":"screen","userId":"u","name":"N","messageId":"1","timestamp":"2026-11-21T12:00:00.000Z"}]}`,
			stored: []string{`u source=website type=screen message-id=1 origin=api {"type":"screen","userId":"u","name":"N","messageId":"1","timestamp":"2026-11-21T12:00:00.000Z","originalTimestamp":"2026-11-21T12:00:00.000Z","sentAt":"2026-11-21T12:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"}`},
		},
		{
			name: "PHP 3.8", path: "/v1/batch", header: map[string]string{"Authorization": basicAuth},
			body:   `{"batch":[{"type":"track","event":"E","userId":"u","messageId":"1","properties":[],"context":[],"integrations":[],"timestamp":1795262399.25}],"context":[]}`,
			stored: []string{`u source=website type=track message-id=1 origin=api {"type":"track","event":"E","userId":"u","messageId":"1","properties":{},"context":{},"integrations":{},"timestamp":"2026-11-21T11:59:59.250Z","originalTimestamp":"2026-11-21T11:59:59.250Z","receivedAt":"2026-11-21T12:00:00.000Z"}`},
		},
		{
			name: "Java", path: "/v1/import/", header: map[string]string{"Authorization": basicAuth},
			body:   `{"batch":[{"type":"alias","userId":"u","previousId":"p","messageId":"1"}],"sequence":7,"writeKey":"wk_website"}`,
			stored: []string{`u source=website type=alias message-id=1 origin=api {"type":"alias","userId":"u","previousId":"p","messageId":"1",` + tail},
		},
		{
			name: "RudderStack Node 3", path: "/v1/batch", gzip: true,
			header: map[string]string{"Authorization": basicAuth, "Content-Type": "application/x-www-form-urlencoded", "Content-Encoding": "gzip"},
			body:   `{"batch":[{"type":"track","event":"E","userId":"u","messageId":"1","originalTimestamp":"2026-11-21T11:59:59.000Z"}],"sentAt":"2026-11-21T12:00:00.000Z"}`,
			stored: []string{`u source=website type=track message-id=1 origin=api {"type":"track","event":"E","userId":"u","messageId":"1","originalTimestamp":"2026-11-21T11:59:59.000Z","timestamp":"2026-11-21T11:59:59.000Z","sentAt":"2026-11-21T12:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"}`},
		},
		{
			name: "RudderStack JS 3", path: "/v1/track",
			header: map[string]string{"Authorization": basicAuth, "Content-Type": "application/json;charset=UTF-8", "AnonymousId": base64.StdEncoding.EncodeToString([]byte("a")), "Origin": shop},
			body:   `{"type":"track","event":"E","userId":"","anonymousId":"a","channel":"web","messageId":"1","context":{"traits":{}}}`,
			stored: []string{`a source=website type=track message-id=1 origin=api {"type":"track","event":"E","anonymousId":"a","channel":"web","messageId":"1","context":{"traits":{},"ip":"127.0.0.1"},` + tail},
		},
		{
			name: "RudderStack JS 3, beacon", path: "/beacon/v1/batch?writeKey=wk_website", header: map[string]string{"Content-Type": "text/plain", "Origin": shop, "Cookie": "a=b"},
			body:   `{"batch":[{"type":"page","anonymousId":"a","messageId":"1"}],"sentAt":"2026-11-21T12:00:00.000Z"}`,
			stored: []string{`a source=website type=page message-id=1 origin=api {"type":"page","anonymousId":"a","messageId":"1","context":{"ip":"127.0.0.1"},"timestamp":"2026-11-21T12:00:00.000Z","sentAt":"2026-11-21T12:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"}`},
		},
	}
}

// request is what an SDK changes of a request with the usual key.
func (k *sdk) request(r *http.Request) {
	noAuth(r)
	for name, value := range k.header {
		r.Header.Set(name, value)
	}
}

// TestPeculiaritiesOfSDKs sends what is special about each SDK and compares what
// is stored.
func TestPeculiaritiesOfSDKs(t *testing.T) {
	var cases []exchange
	for _, k := range sdks() {
		body := k.body
		if k.gzip {
			body = compress(body)
		}
		cases = append(cases, exchange{name: k.name, path: k.path, body: body, options: []func(*http.Request){k.request}, stored: k.stored})
	}
	exchangeAll(t, cases)
}

// outcome is what an SDK makes of an answer.
type outcome string

const (
	done  outcome = "done"
	drop  outcome = "drop"
	again outcome = "again"
)

// TestSDKsDecideRight walks through what the SDKs look at in an answer: what was
// taken in must not be sent again, what can't be must not either, and what was
// not stored must be.
func TestSDKsDecideRight(t *testing.T) {
	answers := answersOf(t)
	for name, decide := range map[string]func(reply) outcome{
		"Python 2.3": pythonDecides, "Ruby 2.5": rubyDecides, "browser 1.8x": browserDecides,
		"Node": byClass, "RudderStack Node 3": byClass, "RudderStack JS 3": byClass, "Java": byClass,
	} {
		got := make(map[string]outcome)
		for what, a := range answers {
			got[what] = decide(a)
		}
		if diff := cmp.Diff(map[string]outcome{
			"stored": done, "one of two stored": done, "bad JSON": drop, "a bad event": drop, "no good event": drop,
			"a wrong key": drop, "too large": drop, "too fast": again, "an outage": again,
		}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// byClass is what most SDKs do.
func byClass(a reply) outcome {
	switch {
	case a.status < 300:
		return done
	case a.status == http.StatusTooManyRequests || a.status >= 500:
		return again
	default:
		return drop
	}
}

// pythonDecides: whatever is not exactly 200 has failed; of a 4xx the body says
// whether for good.
func pythonDecides(a reply) outcome {
	var body struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	switch err := json.Unmarshal([]byte(a.body), &body); {
	case a.status == http.StatusOK:
		return done
	case byClass(a) == drop && (err != nil || body.Code == "" || body.Message == ""):
		return again
	default:
		return byClass(a)
	}
}

// rubyDecides: the body is parsed whatever the status says, and must be an object.
func rubyDecides(a reply) outcome {
	var body map[string]any
	if json.Unmarshal([]byte(a.body), &body) != nil {
		return again
	}
	return byClass(a)
}

// browserDecides: what the page may not read is a network error to it, and a 429
// whose wait it can't read comes back at once and is soon given up.
func browserDecides(a reply) outcome {
	switch {
	case a.header.Get("Access-Control-Allow-Origin") != shop:
		return again
	case a.status == http.StatusTooManyRequests && (a.header.Get("Retry-After") == "" || a.header.Get("Access-Control-Expose-Headers") != "Retry-After"):
		return drop
	default:
		return byClass(a)
	}
}

// TestSDKsThatSendEverythingAgain: Go 2.1.1 repeats every status from 400 on, PHP
// 3.8 all but 200. What is good in their requests has to be answered with exactly
// that.
func TestSDKsThatSendEverythingAgain(t *testing.T) {
	answers := answersOf(t)
	for _, what := range []string{"stored", "one of two stored"} {
		if a := answers[what]; a.status != http.StatusOK || !strings.HasPrefix(a.body, `{"success":true`) {
			t.Errorf("%s: got %d %s", what, a.status, a.body)
		}
	}
}

// answersOf returns answers of every kind, as a page sees them.
func answersOf(t *testing.T) map[string]reply {
	t.Helper()
	s := start(t, testkit.Fake(t), func(c *Config) { c.RatePerSource = 1 })
	ask := func(path, body string, options ...func(*http.Request)) reply {
		return s.post(t, path, body, append(options, with("Origin", shop))...)
	}
	answers := map[string]reply{
		"stored":            ask("/v1/batch", `{"batch":[`+padded(100)+`]}`),
		"one of two stored": ask("/v1/batch", `{"batch":[`+padded(100)+`,{}]}`),
		"bad JSON":          ask("/v1/batch", `{`),
		"a bad event":       ask("/v1/track", `{}`),
		"no good event":     ask("/v1/batch", `{"batch":[{}]}`),
		"a wrong key":       ask("/v1/batch", `{}`, noAuth),
		"too large":         ask("/v1/batch", paddedBatch(512_001)),
		"too fast":          ask("/v1/batch", batchOf(2500)),
	}
	s.cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.TopicAuthorizationFailed})
	answers["an outage"] = ask("/v1/batch", identities(1))
	return answers
}
