package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

// partVariable has the test binary play the browser: its value is one of parts.
const partVariable = "SDKTEST_BROWSER_PART"

// parts are ways in which a browser may behave, given the address of the page.
var parts = map[string]func(page string) error{
	"visits":   func(page string) error { return visitor{page}.visit() },
	"hangs":    func(string) error { return nil },
	"ends":     func(string) error { os.Exit(3); return nil },
	"stumbles": func(page string) error { return visitor{page}.post("/trouble", "SDK is not defined") },
	"objects": func(page string) error {
		fmt.Fprintln(os.Stderr, `[1:1:1121/1.1:INFO:CONSOLE:0] "Access to fetch at 'x' has been blocked by CORS policy: no header", source: y (0)`)
		return visitor{page}.visit()
	},
}

func TestMain(m *testing.M) {
	part, ok := parts[os.Getenv(partVariable)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := part(os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// A browser whose page has gone stays open.
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	<-stop
}

// visitor does what visit.js does, with an SDK that sends each call as it is.
type visitor struct{ page string }

func (v visitor) visit() error {
	var job brief
	if err := v.get("/job.json", &job); err != nil {
		return err
	}
	if err := say(job.Endpoint, job.Calls); err != nil {
		return err
	}
	if err := post(job.Endpoint+"/v1/m", "{}"); err != nil { // SDKs report on themselves
		return err
	}
	if err := v.get(fmt.Sprintf("/settled?calls=%d", len(job.Calls)), nil); err != nil {
		return err
	}
	if err := v.post("/left", ""); err != nil {
		return err
	}
	return say(job.Endpoint, job.Last)
}

func say(endpoint string, calls []scenario.Call) error {
	for _, c := range calls {
		text, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if err := post(endpoint+"/v1/"+c.Type, string(text)); err != nil {
			return err
		}
	}
	return nil
}

func (v visitor) get(path string, into any) error {
	resp, err := http.Get(v.page + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, resp.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

func (v visitor) post(path, body string) error { return post(v.page+path, body) }

func post(url, body string) error {
	resp, err := http.Post(url, "text/plain", strings.NewReader(body))
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
