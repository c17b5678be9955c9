package app

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// credentials are the user information and query of every endpoint's URL.
const credentials = "zqUser7:zqPassword7%2F%40"

// vault is a workspace whose every secret is a canary. Its destinations are
// named after how their endpoints fail, or don't.
type vault struct {
	dir       string
	endpoints map[string]string // URLs without secrets
	version   int               // changes every secret
}

func newVault(t *testing.T, receiver *echo) *vault {
	t.Helper()
	t.Setenv("CANARY_KEY", "zqKeyEnviron7")
	t.Setenv("CANARY_SHARED", `zqSharedEnviron7 "é\`)
	t.Setenv("CANARY_HEADER", "zqHeaderEnviron7=<&>")
	v := &vault{dir: t.TempDir(), endpoints: make(map[string]string)}
	for name, text := range map[string]string{"key": "zqKeyFile7", "shared": "zqSharedFile7 '", "header": "zqHeaderFile7\t;"} {
		writeFile(t, filepath.Join(v.dir, name), text+"\n")
	}
	for _, paths := range []map[string]string{echoes, takenEchoes} {
		for path := range paths {
			v.endpoints[strings.TrimPrefix(path, "/")] = "http://" + receiver.addr + path
		}
	}
	selfSigned := httptest.NewUnstartedServer(http.NotFoundHandler())
	selfSigned.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	selfSigned.StartTLS()
	t.Cleanup(selfSigned.Close)
	unused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = unused.Close()
	v.endpoints["self-signed"] = selfSigned.URL
	v.endpoints["not-tls"] = "https://" + receiver.addr
	v.endpoints["nobody"] = "http://" + unused.Addr().String()
	v.endpoints["private"] = "http://10.0.0.1"
	v.endpoints["nameless"] = "http://no-such-host.invalid"
	return v
}

// text is the workspace file.
func (v *vault) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, `
sources:
  - {id: literal, name: "L%d", writeKey: zqKeyLiteral7}
  - {id: environ, name: E, writeKey: {env: CANARY_KEY}}
  - {id: file, name: F, writeKey: {file: key}}
destinations:
`, v.version)
	shared := []string{fmt.Sprintf(`"zqSharedLiteral7 %d"`, v.version), "{env: CANARY_SHARED}", "{file: shared}"}
	for i, name := range v.names() {
		scheme, rest, _ := strings.Cut(v.endpoints[name], "://")
		headers := fmt.Sprintf(`X-Literal: "zqHeaderLiteral7 %d", X-Environ: {env: CANARY_HEADER}, X-File: {file: header}`, v.version)
		if i%2 == 1 {
			headers += `, Authorization: "Bearer zqHeaderBearer7=="`
		}
		fmt.Fprintf(&b, `  - {id: %s, type: webhooks, name: %s, sources: [literal, environ, file], sharedSecret: %s, endpoints: [{url: "%s://%s@%s?token=%dzqQuery7%%26", headers: {%s}}]}`+"\n",
			name, name, shared[i%3], scheme, credentials, rest, v.version, headers)
	}
	return b.String()
}

func (v *vault) names() []string {
	var names []string
	for name := range v.endpoints {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// failing are the destinations whose events end in dead-letters.
func (v *vault) failing() []string {
	return slices.DeleteFunc(v.names(), func(name string) bool { return takenEchoes["/"+name] != "" })
}

// TestNobodyReadsSecrets takes a workspace full of secrets through everything
// that a process does with it, at debug level, and then reads what everybody else
// may read. It runs alone: the environment and the standard logger are the whole
// process's.
func TestNobodyReadsSecrets(t *testing.T) {
	var seen evidence
	standard := new(testkit.Logs)
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(standard, nil))) // net/http has a word now and then

	receiver := newEcho(t)
	v := newVault(t, receiver)
	file := filepath.Join(v.dir, "workspace.yaml")
	writeFile(t, file, v.text())
	env := with(environment(t), "WORKSPACE_FILE", file, "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8",
		"WEBHOOK_SINK_TIMEOUT", "1s", "WEBHOOK_SINK_RETRY_DELAYS", "100ms", "WEBHOOK_SINK_RETRY_WINDOW", "300ms", "LOG_LEVEL", "debug", "SECRETS_KEY", masterKey)
	r := start(t, env)
	if env["KAFKA_BROKERS"] == "" {
		env = with(env, "BROKER_ADDR", find(t, r.screen.String(), `embedded broker\s+([^,]+),`))
	}

	sendWithKeys(t, r, &seen)
	awaitDeadLetters(t, env, v.failing())
	sent := strings.Join(leaks(receiver.received()), "\n")
	for _, secret := range canaries {
		if !strings.HasPrefix(secret, "zqKey") && secret != "zqMasterKey7" && !strings.HasPrefix(secret, "zqShared") && !strings.Contains(sent, secret) {
			t.Errorf("%s was never sent, so nobody could show it", secret)
		}
	}
	poison(t, env)
	testkit.Until(t, func() bool { return strings.Contains(r.log.String(), "record skipped") }, "a bad record to be skipped")
	breakFile(t, env, v, &seen)
	reload(t, r, file, v)

	for _, page := range []string{"/metrics", "/readyz", "/healthz", "/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=2", "/debug/pprof/heap?debug=1", "/debug/pprof/allocs?debug=1"} {
		seen.add(page, r.get(t, page))
	}
	for topic, text := range contents(t, env) {
		seen.add("topic "+topic, text)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	seen.add("the log", r.log.String())
	seen.add("the log in JSON", r.json.String())
	seen.add("the screen", r.screen.String())
	seen.add("the standard logger", standard.String())
	seen.check(t, "the log", "the log in JSON", "the screen", "/metrics", "/debug/pprof/cmdline", "answers", "topic "+schemas.TopicDeadLetters,
		"topic "+schemas.TopicWorkspace, "topic "+schemas.RetryTopic(100*time.Millisecond), "apply", "errors of apply", "errors of run", "errors of settings")
}

// sendWithKeys makes calls with the keys of the workspace, in each of the places
// where a key may stand, and with keys that are wrong.
func sendWithKeys(t *testing.T, r *running, seen *evidence) {
	t.Helper()
	const call = `{"userId":"u","event":"x"}`
	send := func(want int, target, key, body string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.api+target, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if key != "" {
			req.SetBasicAuth(key, "")
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != want {
			t.Errorf("%s with %q and %s was answered %d %s, %v", target, key, body, resp.StatusCode, text, err)
		}
		seen.add("answers", fmt.Sprint(resp.Header)+string(text))
	}
	send(http.StatusOK, "/v1/track", "zqKeyLiteral7", call)
	send(http.StatusOK, "/v1/track", "zqKeyEnviron7", call)
	send(http.StatusOK, "/v1/track", "", `{"userId":"u","event":"x","writeKey":"zqKeyFile7"}`)
	send(http.StatusOK, "/v1/batch", "", `{"writeKey":"zqKeyFile7","batch":[{"type":"track","userId":"u","event":"x"}]}`)
	send(http.StatusOK, "/v1/track?writeKey=zqKeyFile7", "", call)
	send(http.StatusUnauthorized, "/v1/track", "zqKeyWrong7", call)
	send(http.StatusUnauthorized, "/v1/track", "", `{"userId":"u","event":"x","writeKey":"zqKeyWrong7"}`)
	send(http.StatusUnauthorized, "/v1/track?writeKey=zqKeyWrong7", "", call)
	send(http.StatusBadRequest, "/v1/track", "zqKeyLiteral7", `{"userId":"u","writeKey":"zqKeyLiteral7"`)
	send(http.StatusBadRequest, "/v1/track", "", `{"userId":5,"writeKey":"zqKeyFile7"}`)
	send(http.StatusNotFound, "/v1/nothing?writeKey=zqKeyLiteral7", "zqKeyLiteral7", call)
}

// breakFile hands every command files with mistakes beside secrets.
func breakFile(t *testing.T, env map[string]string, v *vault, seen *evidence) {
	t.Helper()
	file := filepath.Join(v.dir, "broken.yaml")
	good := v.text()
	for mistake, text := range map[string]string{
		"an open quote":      strings.Replace(good, `"zqSharedLiteral7 `, `"zqSharedLiteral7`+"\n", 1) + `"`,
		"an open bracket":    strings.Replace(good, `[{url: "`, `[{url: ["`, 1),
		"a bad port":         strings.ReplaceAll(good, "@10.0.0.1?", "@10.0.0.1:99999?"),
		"a bad scheme":       strings.ReplaceAll(good, "http://", "ftp://"),
		"a bad escape":       strings.ReplaceAll(good, "zqPassword7%2F", "zqPassword7%zz"),
		"a fragment":         strings.ReplaceAll(good, "zqQuery7", "zqQuery7#"),
		"a space":            strings.ReplaceAll(good, "zqQuery7", "zqQuery7 "),
		"a line break":       strings.ReplaceAll(good, "zqHeaderLiteral7 ", `zqHeaderLiteral7\n`),
		"a bad header":       strings.ReplaceAll(good, "X-Literal:", "X Literal:"),
		"a header of ours":   strings.ReplaceAll(good, "X-Literal:", "X-Signature:"),
		"a colon":            strings.ReplaceAll(good, "writeKey: zqKeyLiteral7", `writeKey: "zqKeyLiteral7:"`),
		"one key twice":      strings.ReplaceAll(good, "{env: CANARY_KEY}", "zqKeyLiteral7"),
		"an unknown setting": strings.ReplaceAll(good, "sharedSecret:", "sharedsecret:"),
		"a list":             strings.ReplaceAll(good, "writeKey: zqKeyLiteral7", "writeKey: [zqKeyLiteral7]"),
		"an unknown kind":    strings.ReplaceAll(good, "{env: CANARY_SHARED}", "{text: zqSharedLiteral7}"),
		"two kinds":          strings.ReplaceAll(good, "{env: CANARY_SHARED}", "{env: CANARY_SHARED, text: zqSharedLiteral7}"),
		"no such variable":   strings.ReplaceAll(good, "CANARY_SHARED", "CANARY_NOBODY"),
		"no such file":       strings.ReplaceAll(good, "{file: shared}", "{file: nothing}"),
		"a folder":           strings.ReplaceAll(good, "{file: shared}", "{file: .}"),
		"one URL twice":      strings.Replace(good, "endpoints: [", `endpoints: [{url: "http://h?zqQuery7"}, {url: "http://h?zqQuery7"}, `, 1),
		"a number":           strings.ReplaceAll(good, "enabled", "x") + "\nversion: zqSharedLiteral7\n",
		"an alias":           strings.ReplaceAll(good, "{env: CANARY_SHARED}", "*zqSharedLiteral7"),
		"a control byte":     strings.ReplaceAll(good, "zqHeaderLiteral7", "zqHeaderLiteral7\x01"),
	} {
		writeFile(t, file, text)
		out, err := applied(t, env, file, true)
		if err == nil {
			t.Errorf("%s: apply took the file", mistake)
			continue
		}
		seen.add("errors of apply", out+err.Error())
		err = attempt(t, TargetRun, with(env, "WORKSPACE_FILE", file))
		if err == nil {
			t.Errorf("%s: run took the file", mistake)
			continue
		}
		seen.add("errors of run", err.Error())
	}

	other := *v
	other.version = 2
	writeFile(t, file, other.text())
	for _, dryRun := range []bool{true, false, false} {
		out, err := applied(t, env, file, dryRun)
		if err != nil {
			t.Fatal(err)
		}
		seen.add("apply", out)
	}
	_, err := settings.Load(with(env, "KAFKA_BROKERS", "localhost", "KAFKA_SASL_MECHANISM", "none", "KAFKA_PASSWORD", "zqPassword7"), Stages())
	seen.add("errors of settings", fmt.Sprint(err))
}

// reload has the running process meet a broken file and then one in which every
// secret has changed.
func reload(t *testing.T, r *running, file string, v *vault) {
	t.Helper()
	writeFile(t, file, strings.ReplaceAll(v.text(), "zqQuery7", "zqQuery7#"))
	testkit.Until(t, func() bool { return strings.Contains(r.log.String(), "workspace file refused") }, "the mistake to be logged")
	v.version = 3
	before := strings.Count(r.log.String(), "workspace changed")
	writeFile(t, file, v.text())
	testkit.Until(t, func() bool { return strings.Count(r.log.String(), "workspace changed") > before }, "the change to be logged")
}
