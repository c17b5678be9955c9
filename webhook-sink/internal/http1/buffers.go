package http1

import (
	"sync"

	"github.com/anabranch/anabranch/webhook-sink/internal/http1/internal/response"
)

// keepBuffer is the largest that is kept for the next request.
const keepBuffer = 64 << 10

// buffers are what one request needs of memory. Between requests a connection has
// none, since it is only kept when nothing is left to read.
type buffers struct {
	request  []byte
	response *response.Reader

	keep       Keep
	head, body []byte // what is kept, in memory of its own
}

var pool = sync.Pool{New: func() any { return &buffers{response: response.NewReader()} }}

func takeBuffers() *buffers {
	b, _ := pool.Get().(*buffers)
	return b
}

func (b *buffers) giveBack() {
	if cap(b.request) > keepBuffer {
		b.request = nil
	}
	b.response.Shrink()
	b.head, b.body = nil, nil
	pool.Put(b)
}
