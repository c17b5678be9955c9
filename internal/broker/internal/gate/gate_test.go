package gate

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// pair is a connection through the gate: what the client has, and what kfake has of it.
func pair(t *testing.T) (client, server net.Conn, said *testkit.Logs) {
	t.Helper()
	client, inner := net.Pipe()
	said = new(testkit.Logs)
	ends := make(chan net.Conn, 1)
	ends <- inner
	server, err := New(once{ends}, slog.New(slog.NewTextHandler(said, nil))).Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		server.Close()
	})
	return client, server, said
}

// once is a listener that has connections to accept.
type once struct{ conns chan net.Conn }

func (o once) Accept() (net.Conn, error) { return <-o.conns, nil }
func (o once) Close() error              { return nil }
func (o once) Addr() net.Addr            { return &net.TCPAddr{} }

func request(kind kmsg.Request, version int16) []byte {
	kind.SetVersion(version)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("c")).AppendRequest(nil, kind, 1)
}

func handshake() []byte { return request(kmsg.NewPtrSASLHandshakeRequest(), 1) }

func authenticate(version int16) []byte {
	kind := kmsg.NewPtrSASLAuthenticateRequest()
	kind.SASLAuthBytes = []byte("n,,n=u,r=abc")
	return request(kind, version)
}

func versions(version int16) []byte {
	kind := kmsg.NewPtrApiVersionsRequest()
	kind.ClientSoftwareName, kind.ClientSoftwareVersion = "a", "1"
	return request(kind, version)
}

// large is a request that only who has authenticated may make.
func large() []byte {
	kind := kmsg.NewPtrProduceRequest()
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic = strings.Repeat("t", 2*mostStrangerBytes)
	kind.Topics = append(kind.Topics, topic)
	return request(kind, 9)
}

// passes reports whether the gate hands a request on as it is.
func passes(client, server net.Conn, sent []byte) bool {
	go client.Write(sent)
	got := make([]byte, len(sent))
	_, err := io.ReadFull(server, got)
	return err == nil && string(got) == string(sent)
}

// answer is what kfake does with a request.
func answer(t *testing.T, client, server net.Conn) {
	t.Helper()
	go io.CopyN(io.Discard, client, 4)
	if _, err := server.Write([]byte("\x00\x00\x00\x00")); err != nil {
		t.Fatal(err)
	}
}

func TestAllowedBeforeAuthentication(t *testing.T) {
	for version := range int16(9) {
		client, server, said := pair(t)
		if !passes(client, server, versions(version)) {
			t.Errorf("ApiVersions of version %d was refused: %s", version, said)
		}
	}
	for version := range int16(3) {
		client, server, said := pair(t)
		if !passes(client, server, handshake()) || !passes(client, server, authenticate(version)) {
			t.Errorf("SASLAuthenticate of version %d was refused: %s", version, said)
		}
	}
}

func TestRefusedBeforeAuthentication(t *testing.T) {
	tagged := versions(3)
	tagged[len(tagged)-1] = 1 // a tagged field, which is not there
	counted := authenticate(2)
	counted[len(counted)-1] = 0x7f
	cut := versions(3)
	cut = append([]byte{0, 0, 0, byte(len(cut) - 4 - 2)}, cut[4:len(cut)-2]...)
	for name, c := range map[string]struct {
		sent []byte
		want string
	}{
		"another kind":         {request(kmsg.NewPtrMetadataRequest(), 9), "Metadata before authentication"},
		"a large request":      {large(), "expected 8 to 4096"},
		"no kind at all":       {[]byte("\x00\x00\x00\x02\x7f\xff"), "a request of 2 bytes"},
		"an unknown kind":      {[]byte("\x00\x00\x00\x08\x7f\xff\x00\x00\x00\x00\x00\x00"), "unknown kind of request 32767"},
		"HTTP":                 {[]byte("GET / HTTP/1.1\r\n\r\n"), "a request of 1195725856 bytes"},
		"an unknown version":   {request(kmsg.NewPtrSASLHandshakeRequest(), 2), "SASLHandshake of version 2: expected 0 to 1"},
		"a tagged field":       {tagged, "ApiVersions with tagged fields"},
		"many of them":         {counted, "SASLAuthenticate with tagged fields"},
		"an end that is early": {cut, "ApiVersions: "},
	} {
		client, server, said := pair(t)
		if passes(client, server, c.sent) {
			t.Errorf("%s was handed on", name)
		}
		if !strings.Contains(said.String(), c.want) {
			t.Errorf("%s: said %s, want %s", name, said, c.want)
		}
	}
}

// TestAnswersAuthenticateNotQuestions: who has sent all messages of an authentication has not authenticated.
func TestAnswersAuthenticateNotQuestions(t *testing.T) {
	client, server, said := pair(t)
	for _, sent := range [][]byte{handshake(), authenticate(1), authenticate(1), authenticate(1)} {
		if !passes(client, server, sent) {
			t.Fatalf("refused: %s", said)
		}
	}
	answer(t, client, server) // to the handshake
	answer(t, client, server) // to the first message
	if passes(client, server, large()) {
		t.Error("a large request was handed on before the authentication was answered")
	}

	client, server, said = pair(t)
	for _, sent := range [][]byte{versions(3), handshake(), authenticate(1), versions(3), authenticate(2)} {
		if !passes(client, server, sent) {
			t.Fatalf("refused: %s", said)
		}
		answer(t, client, server)
	}
	if !passes(client, server, large()) {
		t.Errorf("a large request of somebody known was refused: %s", said)
	}
}

// TestAStrangerHasNotForEver: connections that say nothing would use up the descriptors.
func TestAStrangerHasNotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, server, _ := pair(t)
		began := time.Now()
		if _, err := server.Read(make([]byte, 4)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != patience {
			t.Errorf("Read = %v after %v", err, time.Since(began))
		}
		client, server, _ := pair(t)
		for _, sent := range [][]byte{handshake(), authenticate(1), authenticate(1)} {
			passes(client, server, sent)
			answer(t, client, server)
		}
		virtual.Sleep(time.Hour)
		if !passes(client, server, large()) {
			t.Error("who has authenticated was cut off")
		}
	})
}

// FuzzRead: whatever comes in, what is handed on is a part of it, from its beginning.
func FuzzRead(f *testing.F) {
	f.Add(append(versions(3), handshake()...))
	f.Add(append(handshake(), authenticate(2)...))
	f.Add(large())
	f.Fuzz(func(t *testing.T, sent []byte) {
		client, server, _ := pair(t)
		go func() {
			client.Write(sent)
			client.Close()
		}()
		got, _ := io.ReadAll(server)
		if !strings.HasPrefix(string(sent), string(got)) {
			t.Errorf("handed on %x of %x", got, sent)
		}
	})
}
