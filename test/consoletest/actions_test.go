package consoletest

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// enter has the person of the tab log in.
func (b *tab) enter(name string) {
	b.Helper()
	b.visit("/console/login")
	eval[bool](b, fmt.Sprintf(`(document.querySelector("#token").value = %q, document.querySelector("#name").value = %q, document.querySelector("form.login").submit(), true)`, b.of.token, name))
	b.wait(`location.pathname === "/console/" && ` + settled)
}

// drained forgets what the receiver was sent.
func (p *product) drained() {
	for {
		select {
		case <-p.received:
		default:
			return
		}
	}
}

// taken counts what the receiver was sent at a path since it was drained.
func (p *product) taken(path string) (n int) {
	for {
		select {
		case at := <-p.received:
			if at == path {
				n++
			}
		default:
			return n
		}
	}
}

// TestPauseAndResume by keyboard and without script: nothing arrives in between, and all of it
// afterwards.
func TestPauseAndResume(t *testing.T) {
	b := open(t)
	b.scripts(false)
	b.enter("ada")
	b.visit("/console/destination?id=crm")
	b.focus("#pause")
	b.press("\r")
	b.wait(`location.search.includes("id=crm") && document.querySelector("#resume")`)
	if text := eval[string](b, `document.querySelector("main").innerText`); !strings.Contains(text, "by ada") || !strings.Contains(text, "nothing is sent to it") {
		t.Errorf("the page does not say who paused it: %s", text)
	}
	looks := open(t)
	looks.enter("eve")
	looks.visit("/console/destination?id=crm")
	looks.accessible()
	looks.narrow()
	anabranch.drained()
	for i := range 5 {
		if err := anabranch.call("track", map[string]any{"userId": "paused", "event": "Paused", "messageId": fmt.Sprint("paused-", i)}); err != nil {
			t.Fatal(err)
		}
	}
	sent := 0
	until(t, "the other destination to have them", func() bool {
		paths := map[string]int{}
		for {
			select {
			case path := <-anabranch.received:
				paths[path]++
				continue
			default:
			}
			break
		}
		sent += paths["/410"]
		if paths["/200"] > 0 {
			t.Fatalf("%d deliveries to what is paused", paths["/200"])
		}
		return sent >= 5
	})
	b.visit("/console/destination?id=crm")
	b.focus("#resume")
	b.press("\r")
	b.wait(`location.search.includes("id=crm") && document.querySelector("#pause")`)
	got := 0
	until(t, "what waited to arrive", func() bool { got += anabranch.taken("/200"); return got >= 5 })
}

// TestAReplay is planned, started and followed to its end by keyboard.
func TestAReplay(t *testing.T) {
	b := open(t)
	b.enter("ada")
	b.visit("/console/replays")
	b.focus("#destination")
	b.press("crm\r")
	b.wait(`location.pathname === "/console/replay/plan" && document.querySelector("#start") && ` + settled)
	b.accessible()
	b.narrow()
	b.focus("#start")
	b.press("\r")
	b.wait(`location.pathname === "/console/replay" && document.querySelector("h1").innerText.startsWith("Replay 20") && ` + settled)
	address := eval[string](b, "location.pathname + location.search")
	b.wait(`document.querySelector("dl.facts")`)
	b.accessible()
	b.narrow()
	until(t, "the replay to be over", func() bool {
		b.visit(address)
		return strings.Contains(eval[string](b, `document.querySelector("main").innerText`), "done")
	})
	b.visit("/console/replays")
	if text := eval[string](b, `document.querySelector("main").innerText`); !strings.Contains(text, "100%") {
		t.Errorf("the list does not have the replay: %s", text)
	}
}

// TestSendAgain leads from an event to a replay of that event alone.
func TestSendAgain(t *testing.T) {
	b := open(t)
	b.enter("ada")
	b.visit("/console/event?id=o9&user=" + url.QueryEscape(naughty[9]))
	b.wait(`document.querySelector('a[href*="/replay/plan"][href*="crm"]')`)
	b.focus(`a[href*="/replay/plan"][href*="crm"]`)
	b.press("\r")
	b.wait(`document.querySelector("#start") && ` + settled)
	b.accessible()
	b.narrow()
	b.focus("#start")
	anabranch.drained()
	b.press("\r")
	b.wait(`location.pathname === "/console/replay" && ` + settled)
	got := 0
	until(t, "the event to arrive", func() bool { got += anabranch.taken("/200"); return got >= 1 })
}
