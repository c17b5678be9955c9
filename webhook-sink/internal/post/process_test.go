package post

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// receiverVariable makes a process of the test binary a receiver, of the scheme
// that is its value.
const receiverVariable = "POST_TEST_RECEIVER"

// receiver starts a process that answers every POST at once, for the length of the
// test, and returns its address and the roots that its certificate verifies with.
func receiver(tb testing.TB, scheme string) (string, *x509.CertPool) {
	tb.Helper()
	command := exec.CommandContext(tb.Context(), os.Args[0], "-test.run=^TestReceiverProcess$")
	command.Env = append(os.Environ(), receiverVariable+"="+scheme)
	stdin, err := command.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err = command.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = stdin.Close() // is its sign to end
		_ = command.Wait()
	})
	out := bufio.NewReader(stdout)
	address, err := out.ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	roots := x509.NewCertPool()
	if scheme == "https" {
		var text strings.Builder
		for !strings.Contains(text.String(), "END CERTIFICATE") {
			line, err := out.ReadString('\n')
			if err != nil {
				tb.Fatal(err)
			}
			text.WriteString(line)
		}
		block, _ := pem.Decode([]byte(text.String()))
		root, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			tb.Fatal(err)
		}
		roots.AddCert(root)
	}
	return strings.TrimSpace(address), roots
}

// TestReceiverProcess is not a test but the other process of the benchmark.
func TestReceiverProcess(t *testing.T) {
	scheme := os.Getenv(receiverVariable)
	if scheme == "" {
		t.Skip("runs as a child of the benchmark alone")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	greeting := listener.Addr().String() + "\n"
	if scheme == "https" {
		trusted := newAuthority(t, "Trusted")
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{trusted.leaf(t, nil)}})
		greeting += string(pemOf(trusted.cert))
	}
	if _, err := os.Stdout.WriteString(greeting); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answerAll(conn)
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = listener.Close()
}

// answerAll answers requests with 200 and does no more for it than it must.
func answerAll(conn net.Conn) {
	defer conn.Close()
	from := bufio.NewReaderSize(conn, 64<<10)
	for {
		length := 0
		for {
			line, err := from.ReadSlice('\n')
			if err != nil {
				return
			}
			if text, found := bytes.CutPrefix(line, []byte("Content-Length: ")); found {
				length, _ = strconv.Atoi(string(bytes.TrimSpace(text)))
			}
			if len(line) <= len("\r\n") {
				break
			}
		}
		if _, err := from.Discard(length); err != nil {
			return
		}
		if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nDate: Sat, 21 Nov 2026 01:05:29 GMT\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"); err != nil {
			return
		}
	}
}
