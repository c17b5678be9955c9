package analytics

import (
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/dispatch"
	"github.com/anabranch/anabranch/analytics/internal/upload"
)

// start reads the client's fields and starts it, once.
func (c *Client) start() error {
	c.once.Do(func() { c.startErr = c.build() })
	return c.startErr
}

func (c *Client) build() error {
	if c.key == "" && c.closeTimeout == 0 {
		return &OptionError{"Client", "a zero value", "one made by New or NewClient"}
	}
	to, err := requestURL(c.Endpoint)
	if err != nil {
		return err
	}
	context, err := batchContext(DefaultContext, c.context)
	if err != nil {
		return err
	}
	uploader := &upload.Uploader{
		URL: to, WriteKey: c.key, UserAgent: "analytics-go (version: " + Version + ")",
		Context: context, Client: c.httpClient(), Timeout: c.requestTimeout,
	}
	flushAt := min(countOf(c.Size, c.FlushAt), maxBatchMessages)
	c.dispatcher = dispatch.New(dispatch.Config{
		FlushAt: flushAt, FlushAfter: periodOf(c.Interval, c.FlushAfter),
		BatchMessages: flushAt, BatchBytes: maxBatchBytes - upload.Frame(context),
		MaxMessages: c.maxMessages, MaxBytes: c.maxBytes, MaxInFlight: c.maxInFlight, Full: dispatch.Policy(c.full),
		Post: uploader.Post, Report: c.report, Log: c.logger(),
	})
	return nil
}

// countOf decides between the two names of one setting.
func countOf(size, flushAt int) int {
	if size < 1 {
		size = maxBatchMessages
	}
	if flushAt < 1 {
		flushAt = maxBatchMessages
	}
	return changed(size, flushAt, defaultFlushAt)
}

func periodOf(interval, flushAfter time.Duration) time.Duration {
	if interval <= 0 {
		interval = defaultFlushAfter
	}
	if flushAfter <= 0 {
		flushAfter = defaultFlushAfter
	}
	return changed(interval, flushAfter, defaultFlushAfter)
}

// changed returns the value that is not the usual one, the lesser if neither is.
func changed[T int | time.Duration](a, b, usual T) T {
	switch usual {
	case a:
		return b
	case b:
		return a
	}
	return min(a, b)
}

// requestURL makes the URL of a request: protocol.md gives Endpoint as the URL of
// the service, spec.md (Client configuration fields) as that of the request.
func requestURL(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", &OptionError{"Endpoint", strconv.Quote(endpoint), "an http or https URL"}
	}
	path := strings.TrimRight(u.Path, "/")
	if strings.HasSuffix(path, "/batch") || strings.HasSuffix(path, "/import") {
		return u.String(), nil
	}
	return u.JoinPath("v1", "batch").String(), nil
}

// batchContext encodes what is sent with every batch.
func batchContext(usual, more map[string]any) ([]byte, error) {
	context := maps.Clone(usual)
	if context == nil {
		context = make(map[string]any, len(more))
	}
	maps.Copy(context, more)
	text, err := json.Marshal(context)
	if err != nil {
		return nil, &EncodeError{Call: "batch", Path: "context", Err: err}
	}
	if len(text) > maxMessageBytes {
		return nil, &TooLargeError{Call: "batch", What: "context", Limit: maxMessageBytes, Unit: "bytes"}
	}
	return text, nil
}

// writeBuffer holds a request of usual size: it leaves in one write, and the
// transport makes no other buffer, of 32 KB for each request, to copy it through.
const writeBuffer = 64 << 10

// httpClient returns a copy of the user's client with what it lacks, and sets what
// gives its connections back.
func (c *Client) httpClient() *http.Client {
	client := c.Client
	c.release = func() {}
	if client.CheckRedirect == nil {
		client.CheckRedirect = followPosts
	}
	if usual, ok := http.DefaultTransport.(*http.Transport); ok && client.Transport == nil {
		own := usual.Clone()
		own.MaxIdleConnsPerHost = c.maxInFlight
		own.WriteBufferSize = writeBuffer
		client.Transport, c.release = own, own.CloseIdleConnections
	}
	return &client
}

func (c *Client) logger() *slog.Logger {
	switch {
	case c.log != nil:
		return c.log
	case c.Logger != nil:
		return slog.New(printer{to: c.Logger, verbose: c.Verbose})
	}
	return slog.New(slog.DiscardHandler)
}

// debug reports whether DEBUG names this package, alone or in a list.
func debug(value string) bool {
	for name := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ' ' }) {
		if name == "analytics" || name == "*" {
			return true
		}
	}
	return false
}

func number(n int) string { return strconv.Itoa(n) }

// followPosts follows the redirects that leave a POST one (307 and 308). A 302 that
// is followed becomes a GET without a body, whose 200 would count the batch as sent.
func followPosts(next *http.Request, via []*http.Request) error {
	const most = 10 // as net/http has it
	if next.Method != http.MethodPost || len(via) >= most {
		return http.ErrUseLastResponse
	}
	return nil
}
