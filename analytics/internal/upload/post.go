package upload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/retry"
)

const (
	// maxAnswer bounds what is read of an answer: as much as a list of 2,500
	// rejected messages takes.
	maxAnswer = 1 << 20
	// maxQuote bounds what an error repeats of an answer.
	maxQuote = 300
)

// Uploader posts batches to one URL. Its fields are not changed once it is in
// use; it is safe for concurrent use.
type Uploader struct {
	URL       string
	WriteKey  string
	UserAgent string
	Context   []byte // of each batch, a JSON object
	Client    *http.Client
	Timeout   time.Duration // of an attempt, up to the end of its answer
	Compress  bool          // bodies, as long as the server takes them

	plain atomic.Bool // it does not
}

// Post makes one attempt.
func (u *Uploader) Post(ctx context.Context, id string, messages []*queue.Message) Answer {
	ctx, cancel := context.WithTimeout(ctx, u.Timeout)
	defer cancel()
	body, compressed := render(newFrame(u.Context, id, time.Now()), messages, u.Compress && !u.plain.Load())
	response, err := u.send(ctx, body, compressed)
	if err == nil && compressed && response.StatusCode == http.StatusUnsupportedMediaType {
		_ = response.Body.Close()
		u.plain.Store(true)
		body, _ = render(newFrame(u.Context, id, time.Now()), messages, false)
		response, err = u.send(ctx, body, false)
	}
	if err != nil {
		return Answer{Verdict: Again, Err: fmt.Errorf("send batch: %w", withoutURL(err)), TimedOut: timedOut(err)}
	}
	defer func() { _ = response.Body.Close() }()
	return read(response)
}

func (u *Uploader) send(ctx context.Context, body []byte, compressed bool) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", u.UserAgent)
	request.Header.Set("Content-Type", "application/json")
	if compressed {
		request.Header.Set("Content-Encoding", "gzip")
	}
	request.SetBasicAuth(u.WriteKey, "")
	return u.Client.Do(request)
}

// timedOut reports whether a request was under way for as long as it may be. That no
// connection was made in that time says nothing about the request.
func timedOut(err error) bool {
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return false
	}
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// withoutURL leaves out the URL, which the error of a client quotes, with its
// query and what else the user has put into it.
func withoutURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

func read(response *http.Response) Answer {
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer)) // the status has decided, whatever becomes of the body
	if r := response.Request; r != nil && r.Method != http.MethodPost {
		// A client that follows redirects has asked for something else.
		return Answer{Verdict: Refused, Err: &Refusal{Status: response.StatusCode, Message: "answer to a redirected request"}}
	}
	if v := verdict(response.StatusCode); v != Taken {
		return Answer{
			Verdict: v, Err: refusal(response.StatusCode, text), After: retry.After(response.Header, time.Now()),
			Rejected: rejected(response.StatusCode, text),
		}
	}
	return Answer{Verdict: Taken, Rejected: rejected(response.StatusCode, text)}
}

// refusal reads the body that every answer but success has (protocol, 1). A proxy
// may have written another.
func refusal(status int, text []byte) *Refusal {
	var body struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(text, &body) != nil {
		return &Refusal{Status: status}
	}
	return &Refusal{Status: status, Code: quote(body.Code), Message: quote(body.Message)}
}

var success = []byte(`{"success":true}`)

// rejected reads the list of messages that were refused each for a reason of its
// own (protocol, 7): a few of a batch that was taken, or all of one that was not.
func rejected(status int, text []byte) map[int]*Refusal {
	if bytes.Equal(text, success) {
		return nil
	}
	var body struct {
		Rejected []struct {
			Index   *int   `json:"index"`
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"rejected"`
	}
	if json.Unmarshal(text, &body) != nil {
		return nil
	}
	var list map[int]*Refusal
	for _, r := range body.Rejected {
		if r.Index == nil {
			continue
		}
		if list == nil {
			list = make(map[int]*Refusal)
		}
		list[*r.Index] = &Refusal{Status: status, Code: quote(r.Code), Message: quote(r.Message)}
	}
	return list
}

func quote(s string) string {
	if len(s) > maxQuote {
		return s[:maxQuote] + "…"
	}
	return s
}
