package network

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// conversation is what one connection carries: requests, each with a number, and the
// responses to them.
type conversation struct {
	host string
	port int32

	mu    sync.Mutex
	asked map[int32]kmsg.Response // of those that tell addresses, by the request's number
}

func newConversation(self string) *conversation {
	host, text, _ := net.SplitHostPort(self) // of a listener
	port, _ := strconv.ParseInt(text, 10, 32)
	return &conversation{host: host, port: int32(port), asked: make(map[int32]kmsg.Response)}
}

const (
	// maxFrame is more than any broker of the bench sends at a time.
	maxFrame = 256 << 20
	// A request begins with its key, its version and its number, a response with the number.
	requestHead, responseHead = 8, 4
)

func readFrame(from io.Reader, least int) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxFrame || int(n) < least {
		return nil, fmt.Errorf("a frame of %d bytes", n)
	}
	frame := make([]byte, n)
	_, err := io.ReadFull(from, frame)
	return frame, err
}

func writeFrame(to io.Writer, frame []byte) error {
	_, err := to.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
	return err
}

// telling are the requests whose answers tell addresses.
var telling = []kmsg.Key{kmsg.Metadata, kmsg.FindCoordinator, kmsg.DescribeCluster}

// requests carries requests, and remembers what the answers to some of them look like.
func (c *conversation) requests(to io.Writer, from io.Reader) error {
	for {
		frame, err := readFrame(from, requestHead)
		if err != nil {
			return err
		}
		key, version := int16(binary.BigEndian.Uint16(frame)), int16(binary.BigEndian.Uint16(frame[2:]))
		if slices.Contains(telling, kmsg.Key(key)) {
			resp := kmsg.ResponseForKey(key)
			resp.SetVersion(version)
			c.mu.Lock()
			c.asked[int32(binary.BigEndian.Uint32(frame[4:]))] = resp
			c.mu.Unlock()
		}
		if err = writeFrame(to, frame); err != nil {
			return err
		}
	}
}

// responses carries responses, with the addresses that they tell replaced by that of the
// network.
func (c *conversation) responses(to io.Writer, from io.Reader) error {
	for {
		frame, err := readFrame(from, responseHead)
		if err != nil {
			return err
		}
		number := int32(binary.BigEndian.Uint32(frame))
		c.mu.Lock()
		resp := c.asked[number]
		delete(c.asked, number)
		c.mu.Unlock()
		if resp != nil {
			if frame, err = c.rewrite(resp, frame); err != nil {
				return err
			}
		}
		if err = writeFrame(to, frame); err != nil {
			return err
		}
	}
}

var errTags = errors.New("a response with tags in its head: expected none")

func (c *conversation) rewrite(resp kmsg.Response, frame []byte) ([]byte, error) {
	head := responseHead
	if resp.IsFlexible() {
		if head++; len(frame) < head || frame[responseHead] != 0 {
			return nil, errTags
		}
	}
	if err := resp.ReadFrom(frame[head:]); err != nil {
		return nil, err
	}
	switch resp := resp.(type) {
	case *kmsg.MetadataResponse:
		for i := range resp.Brokers {
			resp.Brokers[i].Host, resp.Brokers[i].Port = c.host, c.port
		}
	case *kmsg.FindCoordinatorResponse:
		resp.Host, resp.Port = c.host, c.port
		for i := range resp.Coordinators {
			resp.Coordinators[i].Host, resp.Coordinators[i].Port = c.host, c.port
		}
	case *kmsg.DescribeClusterResponse:
		for i := range resp.Brokers {
			resp.Brokers[i].Host, resp.Brokers[i].Port = c.host, c.port
		}
	}
	return resp.AppendTo(frame[:head:head]), nil
}
