package consoletest

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// product is an Anabranch that runs as it is shipped, and who receives what it sends.
type product struct {
	api, console string // addresses: http://host:port, and that of the overview
	token        string // of the admin pages
	pid          int

	receiver *httptest.Server
	received chan string // paths of what the receiver was sent
}

var (
	collection = regexp.MustCompile(`collection API\s+(http://[^/]+)/`)
	console    = regexp.MustCompile(`console\s+(http://\S+)`)
)

// compile builds the product.
func compile(dir string) (program string, err error) {
	program = filepath.Join(dir, "anabranch")
	build := exec.Command("go", "-C", "../..", "build", "-o", program, "./cmd/anabranch")
	build.Env = append(os.Environ(), "GOWORK=")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the product: %w\n%s", err, out)
	}
	return program, nil
}

// newProduct returns one that is not started yet, whose receiver answers with a status and a
// text.
func newProduct(answer func(*http.Request) (int, string)) *product {
	p := &product{received: make(chan string, 1000)}
	p.receiver = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, text := answer(r)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
		select {
		case p.received <- r.URL.Path:
		default: // retries; nobody counts those
		}
	}))
	return p
}

// start runs the product in a folder until the returned function is called, which says whether
// its end was orderly.
func (p *product) start(dir string, env ...string) (func() error, error) {
	data := filepath.Join(dir, "data")
	cmd := exec.Command(program, "run")
	cmd.Env = append([]string{
		"INGEST_ADDR=127.0.0.1:0", "ADMIN_ADDR=127.0.0.1:0", "BROKER_ADDR=127.0.0.1:0", "RECEIVER_ADDR=127.0.0.1:0",
		"DATA_DIR=" + data, "WEBHOOK_SINK_ALLOW_NETWORKS=127.0.0.0/8",
	}, env...)
	var log bytes.Buffer
	cmd.Stderr = &log
	screen, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err = cmd.Start(); err != nil {
		return nil, err
	}
	p.pid = cmd.Process.Pid
	read := p.greeting(screen)
	stop := func() error {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-read // before Wait, which closes the screen
		ended := cmd.Wait()
		p.receiver.Close()
		if ended != nil {
			return fmt.Errorf("the product's end: %w\n%s", ended, log.String())
		}
		return nil
	}
	if p.console == "" {
		return nil, fmt.Errorf("the product does not start: %w", stop())
	}
	token, err := os.ReadFile(filepath.Join(data, "admin-token"))
	p.token = strings.TrimSpace(string(token))
	return stop, err
}

// greeting reads what the product prints until it is ready. The rest is read in the
// background, so that nothing waits for a reader; the channel is closed at its end.
func (p *product) greeting(screen io.Reader) <-chan struct{} {
	lines := bufio.NewScanner(screen)
	for p.console == "" && lines.Scan() {
		if m := collection.FindStringSubmatch(lines.Text()); m != nil {
			p.api = m[1]
		}
		if m := console.FindStringSubmatch(lines.Text()); m != nil {
			p.console = m[1]
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, screen)
	}()
	return done
}

// byPath answers with the status that the path names: /410.
func byPath(r *http.Request) (status int, text string) {
	status = http.StatusOK
	_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
	return status, naughty[0]
}

// large is a number beyond 2^53 that is a double, as what is signed has no others.
const large = "9007199254740994"

// naughty are texts that have broken pages elsewhere. Those with a script call zq.
var naughty = []string{
	"<script>zq(`1`)</script>",
	"\"><img src=x onerror=zq(`2`)>",
	"' autofocus onfocus='zq(`3`)' onmouseover='zq(`3`)",
	"javascript:zq(`4`)",
	"</title></textarea></script><svg/onload=zq(`5`)>",
	"{{.}}${zq(`6`)}<!-- ]]>",
	"a\u202ezq\u2066b\u200b",
	"../../zq?x=1#y&amp;%2e%2e",
	"9007199254740993",
	"Zoë 🦦 例え שלום",
	strings.Repeat("zq", 120),
}

// workspace is what is in force: a destination that takes everything, one that wants nothing
// of it and one that fails, with what personas can say.
func workspace(receiver string) []byte {
	type object = map[string]any
	destination := func(id, name, path string) object {
		return object{
			"id": id, "name": name, "type": "webhooks", "sources": []string{"website", "personas"},
			"sharedSecret": "zqShared", "endpoints": []object{{"url": receiver + path}},
		}
	}
	text, err := json.Marshal(object{
		"sources": []object{{"id": "website", "name": naughty[0], "writeKey": "wk_website", "trackingPlan": object{"events": object{"Order Completed": object{}}}}},
		"destinations": []object{
			destination("crm", naughty[1], "/200"), destination("gone", naughty[4], "/410"), destination("ill", naughty[2], "/503"),
		},
		"audiences": []object{{"id": "buyers", "name": naughty[5], "when": object{"all": []object{{"did": "Order Completed"}, {"did": naughty[0]}}}}},
		"traits":    []object{{"id": "orders", "name": naughty[3], "take": "count", "did": "Order Completed"}},
	})
	if err != nil {
		panic(err)
	}
	return text // YAML has all of JSON
}

// call sends a call of a type from the source website.
func (p *product) call(kind string, body map[string]any) error { return p.from("website", kind, body) }

// from sends a call of a type from a source, whose write key says which it is.
func (p *product) from(source, kind string, body map[string]any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	key := base64.StdEncoding.EncodeToString([]byte("wk_" + source + ":"))
	return p.post(p.api+"/v1/"+kind, "Basic "+key, text)
}

func (p *product) post(url, authorization string, body []byte) error {
	r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", authorization)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	said, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err == nil && answer.StatusCode/100 != 2 {
		err = fmt.Errorf("%s was answered %d: %s", url, answer.StatusCode, said)
	}
	return err
}

// fill sends calls with every naughty text wherever a caller has a say, and returns once
// they have been delivered or refused.
func (p *product) fill() error {
	for i, text := range naughty {
		err := p.call("track", map[string]any{
			"userId": text, "event": text, "messageId": fmt.Sprintf("m%d %.90s", i, text), "context": map[string]any{"userAgent": text},
			"properties": map[string]any{text: text, "n": json.Number(large)},
		})
		if err == nil {
			err = p.call("track", map[string]any{"userId": text, "event": "Order Completed", "messageId": fmt.Sprintf("o%d", i)})
		}
		if err != nil {
			return err
		}
	}
	deletion := []byte(`{"regulationType":"SUPPRESS_ONLY","subjectType":"USER_ID","subjectIds":["<b>zq</b>"]}`)
	if err := p.post(strings.TrimSuffix(p.console, "console/")+"regulations", "Bearer "+p.token, deletion); err != nil {
		return err
	}
	want := map[string]int{"/200": 2 * len(naughty), "/410": 2 * len(naughty), "/503": 1}
	for timeout := time.After(time.Minute); len(want) > 0; {
		select {
		case path := <-p.received:
			if want[path]--; want[path] <= 0 {
				delete(want, path)
			}
		case <-timeout:
			return fmt.Errorf("after a minute, deliveries are missing: %v", want)
		}
	}
	return nil
}

// until returns once a condition is met.
func until(t *testing.T, what string, met func() bool) {
	t.Helper()
	ticks, timeout := time.NewTicker(50*time.Millisecond), time.After(time.Minute)
	defer ticks.Stop()
	for !met() {
		select {
		case <-ticks.C:
		case <-timeout:
			t.Fatalf("after a minute, not yet: %s", what)
		}
	}
}
