package ingest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// capture is a request of an official SDK as it was recorded.
type capture struct {
	Method     string   `json:"method"`
	Path       string   `json:"path"`
	RawHeaders []string `json:"rawHeaders"`
	Body       string   `json:"body"`
	BodyBase64 []byte   `json:"body_base64"` // when it was compressed
	Decoded    string   `json:"body_decoded"`
}

// bytes is the request as it was on the wire.
func (c *capture) bytes() []byte {
	var b bytes.Buffer
	b.WriteString(c.Method + " " + c.Path + " HTTP/1.1\r\n")
	for i := 0; i < len(c.RawHeaders); i += 2 {
		b.WriteString(c.RawHeaders[i] + ": " + c.RawHeaders[i+1] + "\r\n")
	}
	b.WriteString("\r\n" + c.Body)
	b.Write(c.BodyBase64)
	return b.Bytes()
}

func (c *capture) header(name string) string {
	for i := 0; i < len(c.RawHeaders); i += 2 {
		if strings.EqualFold(c.RawHeaders[i], name) {
			return c.RawHeaders[i+1]
		}
	}
	return ""
}

// events are the calls in the body, none in a preflight or in what is discarded.
func (c *capture) events(t *testing.T) []map[string]any {
	t.Helper()
	if c.Method == http.MethodOptions || c.Path == "/v1/m" {
		return nil
	}
	var body struct {
		Batch []map[string]any `json:"batch"`
	}
	text := []byte(c.Body + c.Decoded)
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatal(err)
	}
	if body.Batch == nil {
		body.Batch = make([]map[string]any, 1)
		if err := json.Unmarshal(text, &body.Batch[0]); err != nil {
			t.Fatal(err)
		}
	}
	if c.header("Origin") != "" {
		for _, call := range body.Batch {
			call["fromBrowser"] = true
		}
	}
	return body.Batch
}

// check holds an answer against what the SDK has to see.
func (c *capture) check(t *testing.T, a reply) {
	t.Helper()
	if c.Method == http.MethodOptions {
		if a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Headers") != c.header("Access-Control-Request-Headers") {
			t.Errorf("got %d %v", a.status, a.header)
		}
	} else if a.status != http.StatusOK || a.body != success {
		t.Errorf("got %d %s", a.status, a.body)
	}
	if got := a.header.Get("Access-Control-Allow-Origin"); got != c.header("Origin") {
		t.Errorf("Access-Control-Allow-Origin: got %q, want %q", got, c.header("Origin"))
	}
}

// TestSDKsAreServedUnchanged sends what SDKs have sent, byte for byte.
func TestSDKsAreServedUnchanged(t *testing.T) {
	files, err := filepath.Glob("testdata/captures/*.json")
	if err != nil || len(files) < 24 {
		t.Fatalf("%d captures, %v", len(files), err)
	}
	s := start(t, testkit.Brokers(t))
	var sent []map[string]any
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c capture
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) { c.check(t, roundTrip(t, s.Addr(), c.bytes())) })
		sent = append(sent, c.events(t)...)
	}
	records := s.cluster.ReadAll(t, schemas.TopicRawEvents, len(sent))
	for i, r := range records {
		h, err := kafka.HeadersOf(r)
		if err != nil {
			t.Fatal(err)
		}
		checkStored(t, sent[i], h, r.Key, r.Value)
	}
}

// roundTrip sends raw bytes over a connection of their own.
func roundTrip(t *testing.T, addr string, request []byte) reply {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err = conn.Write(request); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, string(text), resp.Header}
}

// checkStored holds a record against the call that it was made of.
func checkStored(t *testing.T, sent map[string]any, h schemas.Headers, key, value []byte) {
	t.Helper()
	var stored map[string]any
	if err := json.Unmarshal(value, &stored); err != nil {
		t.Fatal(err)
	}
	if stable, err := stablejson.Append(nil, value); err != nil || !bytes.Equal(stable, value) {
		t.Errorf("%s is not stable: %v", value, err)
	}
	if strings.Contains(string(value), "WK_TEST") {
		t.Errorf("%s holds the write key", value)
	}
	for name, want := range map[string]string{"messageId": h.MessageID, "type": string(h.Type)} {
		if sent[name] != want || stored[name] != want {
			t.Errorf("%s: sent %v, stored %v, header %s", name, sent[name], stored[name], want)
		}
	}
	id, _ := sent["userId"].(string)
	if id == "" {
		id, _ = sent["anonymousId"].(string)
	}
	if string(key) != id || h.Source != "captured" || h.Origin != schemas.OriginAPI {
		t.Errorf("key %q (want %q), headers %+v", key, id, h)
	}
	sentMap, _ := sent["integrations"].(map[string]any)
	if got := len(h.Integrations) > 0; got != (len(sentMap) > 0) {
		t.Errorf("integrations sent %v, header %s", sentMap, h.Integrations)
	}
	if sent["fromBrowser"] != nil {
		if ip := stored["context"].(map[string]any)["ip"]; ip != "127.0.0.1" {
			t.Errorf("context.ip of a call from a browser is %v", ip)
		}
	}
	checkSchema(t, h.Type, value)
}

func checkSchema(t *testing.T, call schemas.Type, value []byte) {
	t.Helper()
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemas.CallSchema(call)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err = compiler.AddResource("call.json", schema); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiler.MustCompile("call.json").Validate(doc); err != nil {
		t.Errorf("%s: %v", value, err)
	}
}
