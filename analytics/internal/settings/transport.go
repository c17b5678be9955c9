package settings

import (
	"net/http"
	"sync"
)

const (
	// writeBuffer holds a request of usual size: it leaves in one write, and the
	// transport makes no other buffer, of 32 KB for each request, to copy it through.
	writeBuffer = 64 << 10
	// maxIdle is how many connections to a service stay open between requests.
	maxIdle = 64
)

// shared is the transport of all clients that have none of their user's. A program
// that makes a client for each of its jobs, and closes none, so has the connections
// of one.
var shared struct {
	mu        sync.Mutex
	transport *http.Transport
	clients   int
}

// HTTPClient returns a copy of the user's client with what it lacks, and what gives its
// connections back: those of the shared transport, when its last client is closed.
func HTTPClient(client http.Client) (own *http.Client, release func()) {
	if client.CheckRedirect == nil {
		client.CheckRedirect = followPosts
	}
	usual, ok := http.DefaultTransport.(*http.Transport)
	if !ok || client.Transport != nil {
		return &client, func() {}
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.transport == nil {
		shared.transport = usual.Clone()
		shared.transport.MaxIdleConnsPerHost = maxIdle
		shared.transport.WriteBufferSize = writeBuffer
	}
	shared.clients++
	client.Transport = shared.transport
	return &client, sync.OnceFunc(leave)
}

func leave() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.clients--; shared.clients == 0 {
		shared.transport.CloseIdleConnections()
		shared.transport = nil // the next client reads http.DefaultTransport anew
	}
}

// followPosts follows the redirects that leave a POST one (307 and 308). A 302 that
// is followed becomes a GET without a body, whose 200 would count the batch as sent.
func followPosts(next *http.Request, via []*http.Request) error {
	const most = 10 // as net/http has it
	if next.Method != http.MethodPost || len(via) >= most {
		return http.ErrUseLastResponse
	}
	return nil
}
