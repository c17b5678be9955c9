package analytics

import (
	"context"
	"net/url"
	"strconv"

	"github.com/anabranch/anabranch/analytics/internal/dispatch"
	"github.com/anabranch/anabranch/analytics/internal/hooks"
	"github.com/anabranch/anabranch/analytics/internal/logging"
	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/settings"
	"github.com/anabranch/anabranch/analytics/internal/upload"
	"github.com/anabranch/anabranch/analytics/internal/wire"
)

// start reads the client's fields and starts it, once.
func (c *Client) start() error {
	c.once.Do(func() {
		c.launch()
		if c.startErr != nil { // the caller may not look at what a call returns
			c.hooks.Log.Error("the client can't start, nothing is sent", "error", c.startErr)
		}
	})
	return c.startErr
}

func (c *Client) launch() {
	c.hooks = hooks.New(logging.Choose(c.log, c.Logger, c.Verbose), c.metrics)
	c.startErr = c.build()
}

func (c *Client) build() error {
	if c.key == "" && c.closeTimeout == 0 {
		return &OptionError{"Client", "a zero value", "one made by New or NewClient"}
	}
	to, ok := settings.RequestURL(c.Endpoint)
	if !ok {
		return &OptionError{"Endpoint", strconv.Quote(c.Endpoint), "an http or https URL"}
	}
	batchContext, err := wire.BatchContext(DefaultContext, c.context)
	if err != nil {
		return refuse("batch", err)
	}
	client, release := settings.HTTPClient(c.Client)
	c.release = release
	uploader := &upload.Uploader{
		URL: to.String(), WriteKey: c.key, UserAgent: "analytics-go (version: " + Version + ")",
		Context: batchContext, Client: client, Timeout: c.requestTimeout, Compress: c.compress,
	}
	flushAt := settings.Count(c.Size, c.FlushAt, defaultFlushAt, wire.MaxBatchMessages)
	flushAfter := settings.Period(c.Interval, c.FlushAfter, defaultFlushAfter)
	shown := url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path} // the rest may be secret
	c.hooks.Log.Debug("sending to the endpoint", "endpoint", shown.String(), "flush_at", flushAt, "flush_after", flushAfter)
	c.dispatcher = dispatch.New(dispatch.Config{
		FlushAt: flushAt, FlushAfter: flushAfter,
		BatchMessages: settings.BatchMessages(flushAt, wire.MaxBatchMessages), BatchBytes: wire.MaxBatchBytes - upload.Frame(batchContext),
		MaxMessages: c.maxMessages, MaxBytes: c.maxBytes, MaxInFlight: c.maxInFlight, MaxAge: c.maxAge, Full: dispatch.Policy(c.full),
		Post: func(ctx context.Context, id string, messages []*queue.Message) upload.Answer {
			return c.hooks.Post(ctx, uploader, id, messages)
		},
		Report: c.report, Log: c.hooks.Log,
	})
	return nil
}
