package docstest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

// delivered is one delivery, as a receiver got it.
type delivered struct {
	body      []byte
	signature string
}

// TestTheGoSampleIsTheTestedOne: the page has the very code of Example_receive.
func TestTheGoSampleIsTheTestedOne(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(read(t, "test/docstest/example_verify_test.go"), "// sample:begin\n\n")
	code, _, found := strings.Cut(rest, "\n// sample:end\n")
	if sample := section(t, "docs/delivery.md", "Verifying the signature").blocks("go"); !found || len(sample) != 1 || sample[0] != code {
		t.Errorf("docs/delivery.md has\n%s\nwhat is tested is\n%s", sample, code)
	}
}

// TestSamplesVerifyDeliveries runs the receivers of the pages beside the product, which delivers to them.
func TestSamplesVerifyDeliveries(t *testing.T) {
	environment(t)
	const secret = "s3cr€t" // keyed with its UTF-8 bytes
	got := make(chan delivered, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := httptest.NewRecorder()
		receive(secret)(answer, r)
		if answer.Code != http.StatusOK {
			t.Errorf("the Go sample answers %d to a delivery", answer.Code)
		}
		got <- delivered{body, r.Header.Get("X-Signature")}
	}))
	t.Cleanup(server.Close)
	port, said := node(t, secret)

	file := filepath.Join(t.TempDir(), "workspace.yaml")
	write(t, file, "sources: [{id: website, writeKey: wk_website}]\ndestinations:\n"+
		destination("go", secret, server.URL)+destination("node", secret, "http://127.0.0.1:"+port))
	t.Setenv("WORKSPACE_FILE", file)
	t.Setenv("WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8")
	printed := started(t, "run")
	post(t, find(t, printed(), `collection API\s+(http://[^/]+/)`)+"v1/track", http.Header{"Authorization": {"Basic d2tfd2Vic2l0ZTo="}},
		`{"userId":"u1","event":"Gekauft \u003c€>","messageId":"m-1","properties":{"b":1.0,"a":1e21}}`, http.StatusOK)

	checkNode(t, <-got, secret)
	if port == "0" {
		t.Skip("node is not installed")
	}
	testkit.Until(t, func() bool { return strings.Contains(said(), "track m-1\n") }, "the Node sample to receive the call")
	post(t, "http://127.0.0.1:"+port, http.Header{"X-Signature": {strings.Repeat("0", 40)}}, `{}`, http.StatusUnauthorized)
	post(t, "http://127.0.0.1:"+port, http.Header{"X-Signature": {strings.Repeat("\xe9", 40)}}, `{}`, http.StatusUnauthorized)
	post(t, "http://127.0.0.1:"+port, nil, `{}`, http.StatusUnauthorized)
}

func destination(id, secret, url string) string {
	return fmt.Sprintf("  - {id: %s, type: webhooks, sources: [website], sharedSecret: %s, endpoints: [{url: %q}]}\n", id, secret, url)
}

func post(t *testing.T, url string, header http.Header, body string, want int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header.Clone()
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != want {
		t.Errorf("%s is answered %d, want %d", url, answer.StatusCode, want)
	}
}

// node runs the page's receiver, where Node is installed, and returns its port and what it prints. Without Node the
// port is 0.
func node(t *testing.T, secret string) (port string, said func() string) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		return "0", func() string { return "" }
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(free.Addr().String())
	free.Close()

	dir := t.TempDir()
	write(t, filepath.Join(dir, "receiver.js"), section(t, "docs/delivery.md", "Verifying the signature").blocks("js")[0])
	out := new(testkit.Logs)
	program := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "receiver.js"))
	program.Env = append(os.Environ(), "SHARED_SECRET="+secret, "PORT="+port)
	program.Stdout, program.Stderr = out, out
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		program.Process.Kill()
		program.Wait() // it was killed
		if t.Failed() {
			t.Logf("node: %s", out)
		}
	})
	testkit.Until(t, func() bool {
		connection, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			return false
		}
		connection.Close()
		return true
	}, "the Node sample to listen")
	return port, out.String
}

// checkNode verifies a delivery with the shorter samples: the first page's, and the one of a parsed body.
func checkNode(t *testing.T, d delivered, secret string) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		return
	}
	short := section(t, "README.md", "Receive webhooks").blocks("js")[0]
	parsed := section(t, "docs/delivery.md", "Verifying the signature").blocks("js")[1]
	script := short + `
const fs = require('fs')
const [,, file, signature, secret] = process.argv
const body = fs.readFileSync(file)
console.log(valid(body, signature, secret), valid(body, signature, 'x'), valid(body, undefined, secret), valid(body, 'é'.repeat(40), secret))
console.log(signature ===
` + parsed + `)
`
	dir := t.TempDir()
	file, program := filepath.Join(dir, "body"), filepath.Join(dir, "short.js")
	write(t, file, string(d.body))
	write(t, program, script)
	out, err := exec.CommandContext(t.Context(), "node", program, file, d.signature, secret).CombinedOutput()
	if want := "true false false false\ntrue\n"; err != nil || string(out) != want {
		t.Errorf("the samples say %s, %v, want %s for %s signed %s", out, err, want, d.body, d.signature)
	}
}
