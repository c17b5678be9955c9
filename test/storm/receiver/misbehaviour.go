package receiver

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"
)

// A Misbehaviour is one way to answer a webhook badly.
type Misbehaviour struct {
	Name string
	// answer speaks until the sender is rid of it. An error ends the connection.
	answer func(conn net.Conn, from *bufio.Reader, self string) error
}

// errOver ends a connection on purpose.
var errOver = errors.New("the connection is over")

// Misbehaviours lists all there are.
func Misbehaviours() []Misbehaviour {
	return []Misbehaviour{
		{"headers without end", flood("HTTP/1.1 200 OK\r\n", "X-Flood: "+pad(1000)+"\r\n")},
		{"one header without end", flood("HTTP/1.1 200 OK\r\nX-Flood: ", pad(4096))},
		{"1xx without end", flood("", "HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n")},
		{"body without end", flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1000\r\n"+pad(0x1000)+"\r\n")},
		{"gzip bomb", say(bomb(), nil)},
		{"trickling headers", trickle("HTTP/1.1 200 OK\r\nX-Slow: ")},
		{"trickling body", trickle("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n")},
		{"no answer", hang},
		{"reset in the status line", reset("HTTP/1.1 2")},
		{"reset in the body", reset("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")},
		{"length too long", say("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nshort", hang)},
		{"two lengths", say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc", nil)},
		{"length too short", say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", nil)},
		{"redirect to itself", redirect},
		{"keep-alive closed", say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok", over)},
		{"not HTTP", say("SSH-2.0-OpenSSH_9.6\r\n", over)},
	}
}

func pad(n int) string { return string(slices.Repeat([]byte{'x'}, n)) }

// flood sends a beginning and then the same for as long as the sender listens.
func flood(begin, again string) func(net.Conn, *bufio.Reader, string) error {
	return func(conn net.Conn, _ *bufio.Reader, _ string) error {
		_, err := io.WriteString(conn, begin)
		for err == nil {
			_, err = io.WriteString(conn, again)
		}
		return err
	}
}

// trickle sends a beginning and then a byte at a time.
func trickle(begin string) func(net.Conn, *bufio.Reader, string) error {
	return func(conn net.Conn, _ *bufio.Reader, _ string) error {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		_, err := io.WriteString(conn, begin)
		for err == nil {
			<-tick.C
			_, err = io.WriteString(conn, "x")
		}
		return err
	}
}

// hang says nothing until the sender closes.
func hang(_ net.Conn, from *bufio.Reader, _ string) error {
	_, err := io.Copy(io.Discard, from)
	return errors.Join(err, errOver)
}

func over(net.Conn, *bufio.Reader, string) error { return errOver }

// reset answers in part and then cuts the connection with a RST.
func reset(begin string) func(net.Conn, *bufio.Reader, string) error {
	return func(conn net.Conn, _ *bufio.Reader, _ string) error {
		_, err := io.WriteString(conn, begin)
		if tcp, ok := conn.(*net.TCPConn); ok {
			err = errors.Join(err, tcp.SetLinger(0))
		}
		return errors.Join(err, errOver)
	}
}

// say sends a fixed answer, and then does what follows, if anything does.
func say(answer string, then func(net.Conn, *bufio.Reader, string) error) func(net.Conn, *bufio.Reader, string) error {
	return func(conn net.Conn, from *bufio.Reader, self string) error {
		if _, err := io.WriteString(conn, answer); err != nil || then == nil {
			return err
		}
		return then(conn, from, self)
	}
}

func redirect(conn net.Conn, _ *bufio.Reader, self string) error {
	_, err := io.WriteString(conn, "HTTP/1.1 302 Found\r\nLocation: "+self+"\r\nContent-Length: 0\r\n\r\n")
	return err
}

// bombed is what the bomb becomes for a sender that inflates it.
const bombed = 64 << 20

// inflatable is the bomb: one small member after the other, each of a megabyte of
// nothing.
func inflatable() []byte {
	var member bytes.Buffer
	w := gzip.NewWriter(&member)
	_, _ = w.Write(make([]byte, 1<<20)) // to memory
	_ = w.Close()
	return bytes.Repeat(member.Bytes(), bombed>>20)
}

// bomb answers at once and with little, which is much to whoever inflates it.
func bomb() string {
	body := inflatable()
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}
