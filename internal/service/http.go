package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"
)

// Bounds on what a client may cost while it sends: a slow or silent one holds a goroutine and a few kilobytes for
// this long, never longer.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 16 << 10
)

// Bounds on what one HTTP/2 connection may cost: requests at a time, and bytes of bodies that have come but are not
// yet read, in all and for each request. The two are a small part of net/http's defaults, a megabyte each; the price
// is a few round trips more for a large body.
const (
	maxStreams        = 100
	maxUnreadBytes    = 256 << 10
	maxUnreadOfStream = 64 << 10
)

// defaultGrace is how long requests in hand may take to finish when the server stops.
const defaultGrace = 5 * time.Second

// An HTTPServer is a [Service] that serves one handler on one listener. Make it with [NewHTTPServer]; the exported
// fields may be set before Run.
//
// Reading a request is bounded: 5 s for the head, 15 s for all of it, 16 KiB of head; an idle connection lives
// for 60 s. Over HTTP/2 the bounds of a request hold for each of the 100 that a connection may have at a time.
//
// It has no [Ready]: the listener is bound, so clients that come before Run wait in its queue.
type HTTPServer struct {
	// WriteTimeout bounds a request from the end of its head to the end of the response. Zero is no bound:
	// a server with /debug/pprof/profile must be able to answer for half a minute and longer.
	WriteTimeout time.Duration

	// Grace is how long requests in hand may take to finish once Run's context has ended; then
	// their connections are closed.
	Grace time.Duration

	// TLS makes the server speak TLS, and HTTP/2 beside HTTP/1.1. Nil is plain HTTP/1.1. The server works on a copy
	// and adds the protocols to it.
	TLS *tls.Config

	// MaxConnections bounds the connections that are open at a time; zero is no bound. For one that comes beyond it
	// another is closed: one that has not sent a whole head for a second, else one whose request has been in hand for
	// two, else one that has been idle for five. When there is none of these the one that came is closed.
	MaxConnections int

	// Shed, if set, is called for each connection that MaxConnections has closed.
	Shed func()

	name     string
	listener net.Listener
	handler  http.Handler
	log      *slog.Logger
}

// NewHTTPServer returns a server of handler on listener, which it owns from now on: Run closes it. What net/http
// has to say goes to log, at debug level except for panics of the handler.
func NewHTTPServer(name string, listener net.Listener, handler http.Handler, log *slog.Logger) *HTTPServer {
	return &HTTPServer{Grace: defaultGrace, name: name, listener: listener, handler: handler, log: log}
}

// Name returns the name that the server was made with.
func (s *HTTPServer) Name() string { return s.name }

// Addr returns the bound address, host:port; it tells which port a listener on port 0 was given.
func (s *HTTPServer) Addr() string { return s.listener.Addr().String() }

// Run serves until ctx ends, then closes the listener, lets requests in hand finish for at most Grace and returns
// nil. A request's context has the values of ctx but does not end with it: what was begun is finished.
func (s *HTTPServer) Run(ctx context.Context) error {
	detached := context.WithoutCancel(ctx)
	server := s.server(detached)
	failed := make(chan error, 1)
	go func() { failed <- s.serve(server) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", s.Addr(), err)
	case <-ctx.Done():
	}
	s.shutdown(detached, server)
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", s.Addr(), err)
	}
	return nil
}

// server is net/http's, with the bounds.
func (s *HTTPServer) server(base context.Context) *http.Server {
	server := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      s.WriteTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(panicsAreErrors{s.log.Handler()}, slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return base },
		TLSConfig:         s.TLS.Clone(),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          maxStreams,
			MaxReceiveBufferPerConnection: maxUnreadBytes,
			MaxReceiveBufferPerStream:     maxUnreadOfStream,
			WriteByteTimeout:              readTimeout,
		},
	}
	if s.MaxConnections > 0 {
		server.ConnState = watch
	}
	return server
}

// serve accepts connections until the server is shut down.
func (s *HTTPServer) serve(server *http.Server) error {
	listener := s.listener
	if s.MaxConnections > 0 {
		listener = limitConnections(listener, s.MaxConnections, s.Shed, s.log)
	}
	if s.TLS == nil {
		return server.Serve(listener)
	}
	return server.ServeTLS(listener, "", "")
}

// shutdown is an orderly stop even when it has to cut requests off: a client that never finishes must not turn the
// operator's clean stop into a failure.
func (s *HTTPServer) shutdown(ctx context.Context, server *http.Server) {
	bound, cancel := context.WithTimeout(ctx, s.Grace)
	defer cancel()
	err := server.Shutdown(bound)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn("requests cut off", "service", s.name, "grace", s.Grace)
		err = server.Close()
	}
	if err != nil {
		s.log.Debug("closing the listener failed", "service", s.name, "error", err)
	}
}

// panicsAreErrors passes on the records of net/http's error log, which writes everything at one level, and raises
// those that tell of a handler's panic: net/http recovers it, so this line is all there is to see of a bug.
type panicsAreErrors struct{ slog.Handler }

// Enabled is asked before the text is known.
func (h panicsAreErrors) Enabled(context.Context, slog.Level) bool { return true }

// Handle decides on the text, since nothing else tells a panic from a client's bad handshake.
func (h panicsAreErrors) Handle(ctx context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "panic serving") {
		r.Level = slog.LevelError
	}
	if !h.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}
