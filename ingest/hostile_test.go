package ingest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

const (
	host   = "Host: x\r\n"
	key    = "Authorization: Basic d2tfd2Vic2l0ZTo=\r\n"
	target = "POST /v1/identify HTTP/1.1\r\n"
	// chunks is oneCall as one chunk and the last.
	chunks = "1e\r\n" + oneCall + "\r\n0\r\n\r\n"
)

// length is the header of a body of n bytes.
func length(n int) string { return fmt.Sprintf("Content-Length: %d\r\n", n) }

// request is a good request with more header lines.
func request(lines ...string) string {
	return target + host + key + strings.Join(lines, "") + length(len(oneCall)) + "\r\n" + oneCall
}

// inChunks is a request whose body comes in chunks, with more header lines.
func inChunks(body string, lines ...string) string {
	return target + host + key + strings.Join(lines, "") + "Transfer-Encoding: chunked\r\n\r\n" + body
}

// raw sends bytes on a connection of their own, and no more, and returns the
// statuses of all that is answered until the server closes it.
func (s *stage) raw(t *testing.T, text string) (statuses []int) {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		io.WriteString(conn, text) // the server may close before it has all
		conn.(*net.TCPConn).CloseWrite()
	}()
	defer func() { <-sent }()
	answers := bufio.NewReader(conn)
	for {
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			return statuses
		}
		statuses = append(statuses, resp.StatusCode)
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

// sound checks, when all has been sent, that the stage is none the worse for it.
func (s *stage) sound(t *testing.T) {
	t.Helper()
	if got := s.post(t, "/v1/identify", oneCall); got.body != success {
		t.Errorf("afterwards: got %d %s", got.status, got.body)
	}
	if log := s.log.String(); strings.Contains(log, "panic") {
		t.Errorf("a handler has panicked: %s", log)
	}
}

// hostile is one text on a connection and what has to come of it.
type hostile struct {
	name   string
	text   string
	want   []int // the status of each answer
	stored int
}

func (s *stage) withstand(t *testing.T, cases []hostile) {
	t.Helper()
	stored := 0
	for _, c := range cases {
		if got := s.raw(t, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		stored += c.stored
	}
	s.sound(t)
	s.stored(t, stored+1)
}

// TestSmuggling sends requests of which a proxy in front may think that they end
// elsewhere. What follows the end must never be taken for a request of its own
// unless it is beyond doubt one.
func TestSmuggling(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	next := request()
	s.withstand(t, []hostile{
		// The chunks count, as RFC 9112, 6.3 says. What follows them is a request:
		// net/http does not tell a handler that there was a length too.
		{"a chunked body with a length", inChunks(chunks, length(5)) + next, []int{200, 200}, 2},
		{"two lengths", request(length(5)) + next, []int{400}, 0},
		{"a list of lengths", target + host + key + "Content-Length: 5, 30\r\n\r\n" + oneCall + next, []int{400}, 0},
		{"one length twice", request(length(len(oneCall))), []int{200}, 1},
		{"a length with a sign", target + host + key + "Content-Length: +30\r\n\r\n" + oneCall + next, []int{400}, 0},
		{"a negative length", target + host + key + "Content-Length: -1\r\n\r\n" + oneCall + next, []int{400}, 0},
		{"a hexadecimal length", target + host + key + "Content-Length: 0x1e\r\n\r\n" + oneCall + next, []int{400}, 0},
		{"a length too long for a number", target + host + key + "Content-Length: 99999999999999999999\r\n\r\n" + next, []int{400}, 0},
		{"a length on two lines", target + host + key + "Content-Length: 3\r\n 0\r\n\r\n" + oneCall + next, []int{400}, 0},
		{"white space before the colon", target + host + key + "Content-Length : 30\r\n\r\n" + oneCall + next, []int{400}, 0},
		{"white space before the first name", target + " X: y\r\n" + host + key + length(30) + "\r\n" + oneCall + next, []int{400}, 0},
		{"chunked, misspelt", target + host + key + "Transfer-Encoding: xchunked\r\n\r\n" + chunks + next, []int{501}, 0},
		{"chunked, and something else", target + host + key + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunks + next, []int{501}, 0},
		{"chunked twice", target + host + key + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + next, []int{501}, 0},
		{"identity beside a length", target + host + key + "Transfer-Encoding: identity\r\n" + length(30) + "\r\n" + oneCall + next, []int{501}, 0},
		{"chunked with a vertical tab", target + host + key + "Transfer-Encoding: \vchunked\r\n\r\n" + chunks + next, []int{400}, 0},
		{"a length in HTTP/1.0 beside chunks", strings.Replace(inChunks(chunks, length(5)), "1.1", "1.0", 1) + next, []int{400}, 0},
		{"a chunk that is longer than it says", inChunks("1d\r\n"+oneCall+"\r\n0\r\n\r\n") + next, []int{408}, 0},
		{"a chunk size of nothing", inChunks("\r\n"+oneCall+"\r\n0\r\n\r\n") + next, []int{408}, 0},
		{"a negative chunk size", inChunks("-1\r\n"+oneCall+"\r\n0\r\n\r\n") + next, []int{408}, 0},
		{"a chunk size with 0x", inChunks("0x1e\r\n"+oneCall+"\r\n0\r\n\r\n") + next, []int{408}, 0},
		{"a chunk size too long for a number", inChunks("1000000000000001e\r\n"+oneCall+"\r\n0\r\n\r\n") + next, []int{408}, 0},
		{"a chunk size that ends with a line feed", inChunks("1e\n"+oneCall+"\r\n0\r\n\r\n") + next, []int{408}, 0},
		{"a chunk that ends with a line feed", inChunks("1e\r\n"+oneCall+"\n0\r\n\r\n") + next, []int{408}, 0},
		{"extensions of chunks", inChunks("1e;name=value\r\n" + oneCall + "\r\n0;last\r\n\r\n"), []int{200}, 1},
		{"an endless extension", inChunks("1e;" + strings.Repeat("x", 100_000) + "\r\n" + oneCall + "\r\n0\r\n\r\n"), []int{408}, 0},
		{"extensions that outweigh the body", inChunks(strings.Repeat("1;"+strings.Repeat("x", 2000)+"\r\n \r\n", 200) + "0\r\n\r\n"), []int{408}, 0},
		{"a key in the trailer", strings.Replace(inChunks("1e\r\n"+oneCall+"\r\n0\r\n"+key+"\r\n", "Trailer: Authorization\r\n"), key, "", 1), []int{401}, 0},
	})
}

func TestMalformedHTTP(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	manyLines := strings.Repeat("A: b\r\n", 5000)
	s.withstand(t, []hostile{
		{"nothing", "", nil, 0},
		{"line ends", "\r\n\r\n\r\n", []int{400}, 0},
		{"noise", "\x00\xff\x01\xfe\r\n\r\n", []int{400}, 0},
		{"a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", []int{400}, 0},
		{"an HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{404}, 0},
		{"a request of HTTP/0.9", "GET /\r\n\r\n", []int{400}, 0},
		{"a version that is none", "POST /v1/identify HTTP/9.9\r\n" + host + "\r\n", []int{505}, 0},
		{"no version", "POST /v1/identify\r\n" + host + "\r\n", []int{400}, 0},
		{"a space in the path", "POST /v1/identify x HTTP/1.1\r\n" + host + "\r\n", []int{400}, 0},
		{"a control character in the path", "POST /v1/identi\x01fy HTTP/1.1\r\n" + host + "\r\n", []int{400}, 0},
		{"a bad escape in the path", "POST /v1/%zz HTTP/1.1\r\n" + host + "\r\n", []int{400}, 0},
		{"a NUL in the path", "POST /v1/identify%00 HTTP/1.1\r\n" + host + "\r\n", []int{404}, 0},
		{"dots in the path", "POST /v1/../v1/identify HTTP/1.1\r\n" + host + "\r\n", []int{404}, 0},
		{"a bad method", "PO ST / HTTP/1.1\r\n" + host + "\r\n", []int{400}, 0},
		{"a method of line ends", "\nPOST / HTTP/1.1\r\n" + host + "\r\n", []int{400}, 0},
		{"CONNECT", "CONNECT x:443 HTTP/1.1\r\n" + host + "\r\n", []int{404}, 0},
		{"TRACE", "TRACE /v1/identify HTTP/1.1\r\n" + host + "\r\n", []int{405}, 0},
		{"no host", target + key + length(30) + "\r\n" + oneCall, []int{400}, 0},
		{"two hosts", request(host), []int{400}, 0},
		{"a host that is none", target + "Host: a b\r\n" + key + length(30) + "\r\n" + oneCall, []int{400}, 0},
		{"a host with a path", target + "Host: a/b\r\n" + key + length(30) + "\r\n" + oneCall, []int{400}, 0},
		{"an absolute target", "POST http://elsewhere.example/v1/identify HTTP/1.1\r\n" + host + key + length(30) + "\r\n" + oneCall, []int{200}, 1},
		{"lines that end with a line feed", strings.ReplaceAll(request(), "\r\n", "\n"), []int{200}, 1},
		{"a line that ends with a carriage return", target + host + "X: y\rZ: a\r\n" + key + length(30) + "\r\n" + oneCall, []int{400}, 0},
		{"a NUL in a header", request("X: a\x00b\r\n"), []int{400}, 0},
		{"a header without a name", request(": y\r\n"), []int{400}, 0},
		{"a header without a colon", request("X\r\n"), []int{400}, 0},
		{"a name that is none", request("X(: y\r\n"), []int{400}, 0},
		{"a long header", request("X: " + strings.Repeat("y", 30<<10) + "\r\n"), []int{431}, 0},
		{"a header without an end", target + "X: " + strings.Repeat("y", 1<<20), []int{431}, 0},
		{"many headers", request(manyLines), []int{431}, 0},
		{"a long target", "POST /" + strings.Repeat("a", 30<<10) + " HTTP/1.1\r\n" + host + "\r\n", []int{431}, 0},
		{"a head that ends early", target + host + key, []int{400}, 0},
		{"a body that ends early", target + host + key + length(100) + "\r\n" + oneCall, []int{408}, 0},
		{"chunks that end early", inChunks("1e\r\n" + oneCall + "\r\n"), []int{408}, 0},
		{"a body of a petabyte", target + host + key + length(1<<50) + "\r\n" + oneCall, []int{400}, 0},
		{"an expectation that is none", request("Expect: a miracle\r\n"), []int{417}, 0},
		{"an upgrade", request("Connection: upgrade, http2-settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"), []int{200}, 1},
	})
}

func TestPipelining(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	s.withstand(t, []hostile{
		{"many at once", strings.Repeat(request(), 50), slices.Repeat([]int{200}, 50), 50},
		{"chunked ones", strings.Repeat(inChunks(chunks), 5), slices.Repeat([]int{200}, 5), 5},
		{"a refused one in between", request() + target + host + length(2) + "\r\n{}" + request(), []int{200, 401, 200}, 2},
		{"a malformed one in between", request() + "nonsense\r\n\r\n" + request(), []int{200, 400}, 1},
		{"a body in front that nobody wants", "POST / HTTP/1.1\r\n" + host + length(len(oneCall)) + "\r\n" + oneCall + request(), []int{404, 200}, 1},
		// What is left of it may hold anything, also what looks like a request.
		{"a body too long to be read over", target + host + key + length(600_000) + "\r\n" + strings.Repeat(request(), 6000)[:600_000] + request(), []int{400}, 0},
	})
}
