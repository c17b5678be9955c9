package consoletest

import (
	"net/url"
	"strings"
	"testing"
)

// TestATestDelivery is begun by keyboard alone, by who has logged in, and shows what was sent
// beside what came back; the page of the destination has what it answered to events.
func TestATestDelivery(t *testing.T) {
	b := open(t)
	const destination = "/console/destination?id=gone"
	b.visit("/console/login?next=" + url.QueryEscape(destination))
	b.focus("#token")
	b.press(anabranch.token + "\r")
	b.wait(`location.pathname === "/console/destination" && ` + settled)
	b.accessible()
	b.narrow()
	b.focus("#failed ~ details summary")
	b.press("\r")
	if open := eval[string](b, `document.querySelector("details[open] pre").textContent`); open != naughty[0] {
		t.Errorf("of an answer %q is shown", open)
	}
	b.visit(destination)
	b.focus("#test-send")
	b.press("\r")
	b.wait(`location.pathname === "/console/test-send" && document.querySelector(".sides pre") && ` + settled)
	text := eval[string](b, `document.querySelector("main").innerText`)
	for _, want := range []string{"POST /410 HTTP/1.1", "X-Signature: ", `"type":"track"`, "HTTP/1.1 410 Gone", naughty[0], "would become a dead letter: endpoint answered 410"} {
		if !strings.Contains(text, want) {
			t.Errorf("the test does not show %s:\n%s", want, text)
		}
	}
	b.accessible()
	b.narrow()
	b.reachable()
}
