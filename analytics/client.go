package analytics

import (
	"context"
	"log" //nolint:depguard // the field Logger of version 2
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/dispatch"
	"github.com/anabranch/anabranch/analytics/internal/hooks"
	"github.com/anabranch/anabranch/analytics/internal/settings"
)

// Defaults of a client.
const (
	defaultFlushAt        = 20
	defaultFlushAfter     = 5 * time.Second
	defaultMaxMessages    = 100_000
	defaultMaxBytes       = 64 << 20
	defaultMaxInFlight    = 8
	defaultRequestTimeout = 15 * time.Second // the service takes up to ten to say that it can't
	defaultCloseTimeout   = 30 * time.Second
)

// Client queues messages and sends them in batches. It is made by [New] or
// [NewClient]; its fields are read when it gets its first call, and changes after that
// have no effect. All of its methods may be called from any goroutine.
type Client struct {
	// Endpoint is where the client sends to: the URL of the service, or of the
	// request itself when its path ends in "/batch" or "/import".
	Endpoint string
	// Interval and FlushAfter are one setting: how long after a batch the next one
	// leaves even if it has fewer messages. 5 seconds; the one that was changed
	// counts, the shorter if both were.
	Interval, FlushAfter time.Duration
	// Size and FlushAt are one setting: how many queued messages make a batch leave.
	// It has as many as wait by then, up to 2,500 and 512,000 bytes. 20; the one that was
	// changed counts, the smaller if both were. With 1 each message leaves at once, in a
	// request of its own; below 1 only the interval and the size of a request count.
	Size, FlushAt int
	// Logger is written to: errors always, the rest if Verbose. nil: nothing is.
	Logger *log.Logger
	// Verbose has the client write each thing it does. The environment variable
	// DEBUG=analytics sets it.
	Verbose bool
	// Client makes the requests. Without a Transport the client uses one of its own;
	// without a CheckRedirect 307 and 308 are followed, and other redirects are
	// refusals.
	Client http.Client

	key            string
	log            *slog.Logger
	callback       func(Outcome)
	before         func(context.Context, Call) Call
	metrics        Metrics
	context        map[string]any
	maxMessages    int
	maxBytes       int
	full           Full
	maxInFlight    int
	maxAge         time.Duration
	compress       bool
	requestTimeout time.Duration
	closeTimeout   time.Duration

	once       sync.Once
	startErr   error
	dispatcher *dispatch.Dispatcher
	release    func() // closes idle connections of the client's own
	hooks      *hooks.Hooks
	filtered   atomic.Uint64
}

// New returns a client for the source that the write key belongs to. Its fields
// may be changed before the first call; one that can't be used is that call's error.
func New(writeKey string) *Client {
	return &Client{
		Endpoint: Endpoint,
		Interval: defaultFlushAfter, FlushAfter: defaultFlushAfter,
		Size: defaultFlushAt, FlushAt: defaultFlushAt,
		Logger:  log.New(os.Stderr, "analytics ", log.LstdFlags),
		Verbose: settings.Debug(os.Getenv("DEBUG")),

		key:            strings.Clone(writeKey),
		maxMessages:    defaultMaxMessages,
		maxBytes:       defaultMaxBytes,
		maxInFlight:    defaultMaxInFlight,
		requestTimeout: defaultRequestTimeout,
		closeTimeout:   defaultCloseTimeout,
	}
}

// NewClient is [New] with options, which it checks: the error is an [*OptionError],
// or an [*EncodeError] or [*TooLargeError] of the context. Fields of the client it
// returns are not read any more. Two defaults are others than those of New, which are
// version 2's: a call for which there is no room returns [ErrQueueFull] at once
// ([WhenFull]), and requests of more than 1 KB are compressed ([WithCompression]).
func NewClient(writeKey string, options ...Option) (*Client, error) {
	c := New(writeKey)
	c.full, c.compress = Refuse, true
	if writeKey == "" {
		return nil, &OptionError{"writeKey", `""`, "the write key of a source"}
	}
	for i, option := range options {
		if option == nil {
			return nil, &OptionError{"option " + strconv.Itoa(i+1), nil, "an option"}
		}
		if err := option(c); err != nil {
			return nil, err
		}
	}
	if c.once.Do(c.launch); c.startErr != nil {
		return nil, c.startErr
	}
	return c, nil
}

// Identify queues a message that says who a user is. It returns at once unless the
// queue is full, and so do the methods for the other kinds; their errors are those of
// [Client.Enqueue].
func (c *Client) Identify(message *Identify) error {
	return c.Enqueue(context.Background(), message)
}

// Track queues a message that says what a user did.
func (c *Client) Track(message *Track) error { return c.Enqueue(context.Background(), message) }

// Page queues a message that says which page a user saw.
func (c *Client) Page(message *Page) error { return c.Enqueue(context.Background(), message) }

// Screen queues a message that says which screen of an app a user saw.
func (c *Client) Screen(message *Screen) error { return c.Enqueue(context.Background(), message) }

// Group queues a message that says which group a user belongs to.
func (c *Client) Group(message *Group) error { return c.Enqueue(context.Background(), message) }

// Alias queues a message that says that a user was known by another id before.
func (c *Client) Alias(message *Alias) error { return c.Enqueue(context.Background(), message) }
