package resolve

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// Response codes (RFC 1035, section 4.1.1).
const (
	serverFailure = 2
	noSuchName    = 3
)

// reply is what a name server answers to one question. The zero value says that
// the name has no address.
type reply struct {
	code  byte
	addrs []string // those of the family that was asked for are sent
	alias string   // the one CNAME that is sent before them
	over  bool     // truncated, unless asked over TCP
	mute  bool     // no reply at all
	raw   []byte   // instead of all of it
}

// question is one question as the name server sees it.
type question struct {
	name   string // lower case, without the last dot
	v6     bool
	stream bool // over TCP
}

// nameServer answers from a function. It serves connections that its connect
// method makes, which speak as DNS does over TCP and need no network.
type nameServer struct {
	answer func(question) reply

	serving sync.WaitGroup

	mu    sync.Mutex
	asked map[string]int // questions for IPv4 addresses by name
	open  int
	most  int // that were open at a time
}

func newNameServer(answer func(question) reply) *nameServer {
	return &nameServer{answer: answer, asked: make(map[string]int)}
}

// always answers every question alike.
func always(r reply) func(question) reply { return func(question) reply { return r } }

func (s *nameServer) questions(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[name]
}

func (s *nameServer) connections() (open, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open, s.most
}

// connect is for Options.NameServer.
func (s *nameServer) connect(ctx context.Context, _, _ string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ours, theirs := net.Pipe()
	s.count(1)
	s.serving.Go(func() { s.serveStream(theirs) })
	return &counted{Conn: ours, closed: sync.OnceFunc(func() { s.count(-1) })}, nil
}

func (s *nameServer) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += n
	s.most = max(s.most, s.open)
}

// counted is the client's end of a connection.
type counted struct {
	net.Conn

	closed func()
}

func (c *counted) Close() error {
	c.closed()
	return c.Conn.Close()
}

func (s *nameServer) serveStream(conn net.Conn) {
	defer conn.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		response := s.respond(query, true)
		if response == nil {
			continue
		}
		_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(response))), response...))
	}
}

// listen serves UDP and TCP on a port of the loopback and returns a connect
// method for it.
func (s *nameServer) listen(t *testing.T) dialFunc {
	t.Helper()
	stream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	packets, err := net.ListenPacket("udp", stream.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s.serving.Go(func() {
		for {
			conn, err := stream.Accept()
			if err != nil {
				return
			}
			s.serving.Go(func() { s.serveStream(conn) })
		}
	})
	s.serving.Go(func() {
		query := make([]byte, 4096)
		for {
			n, from, err := packets.ReadFrom(query)
			if err != nil {
				return
			}
			if response := s.respond(query[:n], false); response != nil {
				_, _ = packets.WriteTo(response, from)
			}
		}
	})
	t.Cleanup(func() {
		_, _ = stream.Close(), packets.Close()
		s.serving.Wait()
	})
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, stream.Addr().String())
	}
}

const (
	typeA, typeCNAME, typeAAAA = 1, 5, 28
	headerBytes                = 12
)

func (s *nameServer) respond(query []byte, stream bool) []byte {
	labels, end := readName(query, headerBytes)
	q := question{name: strings.ToLower(labels), stream: stream, v6: binary.BigEndian.Uint16(query[end:]) == typeAAAA}
	if !q.v6 {
		s.mu.Lock()
		s.asked[q.name]++
		s.mu.Unlock()
	}
	r := s.answer(q)
	switch {
	case r.mute:
		return nil
	case r.raw != nil:
		return r.raw
	}
	var records []byte
	count := uint16(0)
	if r.alias != "" {
		records = appendRecord(records, typeCNAME, appendName(nil, r.alias))
		count++
	}
	truncated := byte(0)
	if r.over && !stream {
		truncated = 2
	} else {
		for _, text := range r.addrs {
			addr := netip.MustParseAddr(text)
			if addr.Is4() == q.v6 {
				continue
			}
			kind := uint16(typeA)
			if q.v6 {
				kind = typeAAAA
			}
			records = appendRecord(records, kind, addr.AsSlice())
			count++
		}
	}
	out := append([]byte{query[0], query[1], 0x81 | truncated, 0x80 | r.code, 0, 1}, byte(count>>8), byte(count), 0, 0, 0, 0)
	out = append(out, query[headerBytes:end+4]...)
	return append(out, records...)
}

func readName(message []byte, at int) (string, int) {
	var labels []string
	for message[at] != 0 {
		size := int(message[at])
		labels = append(labels, string(message[at+1:at+1+size]))
		at += 1 + size
	}
	return strings.Join(labels, "."), at + 1
}

func appendName(out []byte, name string) []byte {
	for label := range strings.SplitSeq(name, ".") {
		out = append(append(out, byte(len(label))), label...)
	}
	return append(out, 0)
}

// appendRecord adds a record of the name that was asked for, which stands behind
// the header.
func appendRecord(out []byte, kind uint16, data []byte) []byte {
	out = append(out, 0xc0, headerBytes)
	out = binary.BigEndian.AppendUint16(out, kind)
	out = append(out, 0, 1, 0, 0, 0, 60)
	out = binary.BigEndian.AppendUint16(out, uint16(len(data)))
	return append(out, data...)
}
