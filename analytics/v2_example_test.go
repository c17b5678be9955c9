//go:build go1.26

package analytics_test

import (
	"bytes"
	"fmt"
	"io"
	"log" //nolint:depguard // the field Logger of version 2
	"net/http"
	"os"
	"regexp"
	"runtime"
	"sync"
	"time"

	"github.com/anabranch/anabranch/analytics"
)

// The programs of this file are such as version 2's documentation had, in today's
// spelling of interface{}. Only where they send to is set, since its default is
// not a server of the test's.

func Example() {
	server := newServer()
	defer server.Close()

	client := analytics.New("WRITE_KEY")
	client.Endpoint = server.URL
	client.Identify(&analytics.Identify{
		UserId: "019mr8mf4r",
		Traits: map[string]any{
			"name":    "Michael Bolton",
			"email":   "mbolton@example.com",
			"plan":    "Enterprise",
			"friends": 42,
		},
	})
	client.Close()

	server.print()
	// Output:
	// {"traits":{"email":"mbolton@example.com","friends":42,"name":"Michael Bolton","plan":"Enterprise"},"type":"identify","userId":"019mr8mf4r"}
}

func ExampleClient_Track() {
	server := newServer()
	defer server.Close()

	client := analytics.New("WRITE_KEY")
	client.Endpoint = server.URL
	err := client.Track(&analytics.Track{
		Event:  "Signed Up",
		UserId: "f4ca124298",
		Properties: map[string]any{
			"plan": "Enterprise",
		},
	})
	fmt.Println(err)
	client.Close()

	server.print()
	// Output:
	// <nil>
	// {"event":"Signed Up","properties":{"plan":"Enterprise"},"type":"track","userId":"f4ca124298"}
}

func ExampleClient_Page() {
	server := newServer()
	defer server.Close()

	client := analytics.New("WRITE_KEY")
	client.Endpoint = server.URL
	client.Page(&analytics.Page{
		UserId:   "f4ca124298",
		Category: "Docs",
		Name:     "Go library",
		Traits: map[string]any{
			"url": "https://docs.example.com/libraries/go/",
		},
	})
	client.Close()

	server.print()
	// Output:
	// {"category":"Docs","name":"Go library","properties":{"url":"https://docs.example.com/libraries/go/"},"type":"page","userId":"f4ca124298"}
}

func ExampleClient_Screen() {
	server := newServer()
	defer server.Close()

	client := analytics.New("WRITE_KEY")
	client.Endpoint = server.URL
	client.Screen(&analytics.Screen{
		AnonymousId: "8d3f4a52",
		Name:        "Main",
		Properties:  map[string]any{"orientation": "portrait"},
	})
	client.Close()

	server.print()
	// Output:
	// {"anonymousId":"8d3f4a52","name":"Main","properties":{"orientation":"portrait"},"type":"screen"}
}

func ExampleClient_Group() {
	server := newServer()
	defer server.Close()

	client := analytics.New("WRITE_KEY")
	client.Endpoint = server.URL
	client.Group(&analytics.Group{
		UserId:  "019mr8mf4r",
		GroupId: "56",
		Traits: map[string]any{
			"name":        "Initech",
			"description": "Accounting Software",
		},
	})
	client.Close()

	server.print()
	// Output:
	// {"groupId":"56","traits":{"description":"Accounting Software","name":"Initech"},"type":"group","userId":"019mr8mf4r"}
}

func ExampleClient_Alias() {
	server := newServer()
	defer server.Close()

	client := analytics.New("WRITE_KEY")
	client.Endpoint = server.URL
	client.Alias(&analytics.Alias{PreviousId: "anonymousUser", UserId: "019mr8mf4r"})
	client.Close()

	server.print()
	// Output:
	// {"previousId":"anonymousUser","type":"alias","userId":"019mr8mf4r"}
}

func ExampleClient_Identify() {
	server := newServer()
	defer server.Close()

	client := analytics.New("WRITE_KEY")
	client.Endpoint = server.URL
	client.Identify(&analytics.Identify{
		AnonymousId: "8d3f4a52",
		Traits:      map[string]any{"plan": "trial"},
		Context:     map[string]any{"ip": "203.0.113.17"},
	})
	client.Close()

	server.print()
	// Output:
	// {"anonymousId":"8d3f4a52","context":{"ip":"203.0.113.17"},"traits":{"plan":"trial"},"type":"identify"}
}

// Every message at once, as a development set-up had it.
func ExampleClient_development() {
	server := newServer()
	defer server.Close()

	client := analytics.New("WRITE_KEY")
	client.Endpoint = server.URL
	client.Size = 1
	for range 3 {
		client.Track(&analytics.Track{Event: "Clicked", UserId: "u1"})
	}
	client.Close()

	fmt.Println(server.sizes())
	// Output: [1 1 1]
}

// Batches of a size of one's own, under the name that version 2 had for it and
// under that of its documentation.
func ExampleClient_batching() {
	server := newServer()
	defer server.Close()

	for _, set := range []func(*analytics.Client){
		func(c *analytics.Client) { c.Size = 4; c.Interval = 30 * time.Second },
		func(c *analytics.Client) { c.FlushAt = 4; c.FlushAfter = 30 * time.Second },
	} {
		client := analytics.New("WRITE_KEY")
		client.Endpoint = server.URL
		set(client)
		for range 4 { // the fourth makes them leave
			client.Track(&analytics.Track{Event: "Clicked", UserId: "u1"})
		}
		for client.Stats().Sent < 4 {
			runtime.Gosched()
		}
		client.Track(&analytics.Track{Event: "Clicked", UserId: "u1"})
		client.Close()
	}

	fmt.Println(server.sizes())
	// Output: [4 1 4 1]
}

// A historical import, with the members that version 2 keeps in Message.
func ExampleMessage() {
	server := newServer()
	defer server.Close()

	client := analytics.New("WRITE_KEY")
	client.Endpoint = server.URL
	msg := &analytics.Track{Event: "Old", UserId: "u1"}
	msg.Timestamp = "2012-12-02T00:30:08.276Z"
	client.Track(msg)
	client.Track(&analytics.Track{
		Event: "Older", UserId: "u1",
		Message: analytics.Message{MessageId: "mid-1", Timestamp: "2011-12-02T00:30:08Z"},
	})
	client.Page(&analytics.Page{UserId: "u1", Name: "Oldest", Timestamp: "2010-12-02"})
	client.Close()

	for _, m := range server.messages() {
		fmt.Println(m["timestamp"])
	}
	fmt.Println(server.messages()[1]["messageId"])
	// Output:
	// 2012-12-02T00:30:08.276Z
	// 2011-12-02T00:30:08Z
	// 2010-12-02
	// mid-1
}

// Which destinations get a call.
func ExampleTrack_integrations() {
	server := newServer()
	defer server.Close()

	client := analytics.New("WRITE_KEY")
	client.Endpoint = server.URL
	client.Track(&analytics.Track{
		Event:        "Signed Up",
		UserId:       "u1",
		Integrations: map[string]any{"All": false, "Webhooks": true},
	})
	client.Close()

	server.print()
	// Output: {"event":"Signed Up","integrations":{"All":false,"Webhooks":true},"type":"track","userId":"u1"}
}

// A logger and an HTTP client of one's own, and all that the client does.
func ExampleClient_verbose() {
	server := newServer()
	defer server.Close()

	var out lines
	client := analytics.New("WRITE_KEY")
	client.Endpoint = server.URL
	client.Verbose = true
	client.Logger = log.New(&out, "segment ", 0)
	client.Client = http.Client{Timeout: 5 * time.Second}
	client.Track(&analytics.Track{Event: "Signed Up", UserId: "u1", MessageId: "m1"})
	client.Close()

	fmt.Print(withoutPort(out.String()))
	// Output:
	// segment sending to the endpoint endpoint=http://127.0.0.1/v1/batch flush_at=20 flush_after=5s
	// segment call type=track message_id=m1 bytes=106
	// segment batch sent messages=1
}

// The errors of a call are version 2's.
func ExampleMissingFieldError() {
	client := analytics.New("WRITE_KEY")
	defer client.Close()

	fmt.Println(client.Identify(&analytics.Identify{}))
	fmt.Println(client.Track(&analytics.Track{UserId: "u1"}))
	fmt.Println(client.Track(&analytics.Track{Event: "Signed Up"}))
	fmt.Println(client.Page(&analytics.Page{Name: "Home"}))
	fmt.Println(client.Group(&analytics.Group{UserId: "u1"}))
	fmt.Println(client.Group(&analytics.Group{GroupId: "g1"}))
	fmt.Println(client.Alias(&analytics.Alias{PreviousId: "u0"}))
	fmt.Println(client.Alias(&analytics.Alias{UserId: "u1"}))
	// Output:
	// You must pass either an 'anonymousId' or 'userId'.
	// You must pass 'event'.
	// You must pass either an 'anonymousId' or 'userId'.
	// You must pass either an 'anonymousId' or 'userId'.
	// You must pass a 'groupId'.
	// You must pass either an 'anonymousId' or 'userId'.
	// You must pass a 'userId'.
	// You must pass a 'previousId'.
}

// tracker is how programs wrap the client.
type tracker struct{ *analytics.Client }

func (t *tracker) signedUp(user string) error {
	return t.Track(&analytics.Track{Event: "Signed Up", UserId: user})
}

// A client in a struct, closed as an io.Closer, called by many.
func ExampleClient_embedded() {
	server := newServer()
	defer server.Close()

	t := &tracker{analytics.New("WRITE_KEY")}
	t.Endpoint = server.URL
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := t.signedUp("u1"); err != nil {
				fmt.Println(err)
			}
		})
	}
	wg.Wait()
	var closer io.Closer = t
	fmt.Println(closer.Close(), len(server.messages()))
	// Output: <nil> 8
}

// DEBUG=analytics has the client write what it does, to standard error unless
// it has a logger.
func ExampleClient_debug() {
	server := newServer()
	defer server.Close()

	defer os.Setenv("DEBUG", os.Getenv("DEBUG"))
	os.Setenv("DEBUG", "analytics")
	var out lines
	client := analytics.New("WRITE_KEY")
	client.Endpoint = server.URL
	client.Logger.SetOutput(&out)
	client.Logger.SetFlags(0)
	client.Track(&analytics.Track{Event: "Signed Up", UserId: "u1", MessageId: "m1"})
	client.Track(&analytics.Track{UserId: "u1"})
	client.Close()

	fmt.Print(withoutPort(out.String()))
	// Output:
	// analytics sending to the endpoint endpoint=http://127.0.0.1/v1/batch flush_at=20 flush_after=5s
	// analytics call type=track message_id=m1 bytes=106
	// analytics call refused error=You must pass 'event'.
	// analytics batch sent messages=1
}

func withoutPort(text string) string {
	return regexp.MustCompile(`:\d+/`).ReplaceAllString(text, "/")
}

// lines is what a logger has written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
