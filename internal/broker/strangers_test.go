package broker

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/anabranch/anabranch/internal/broker/datadir"
	"github.com/anabranch/anabranch/test/testkit"
)

// wire is a request as it goes over the wire.
func wire(request kmsg.Request) []byte {
	return kmsg.NewRequestFormatter().AppendRequest(nil, request, 7)
}

// dial connects to a broker, as the user of the password or as a stranger.
func dial(t *testing.T, b *Broker, authenticate bool) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err = conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if !authenticate {
		return conn
	}
	handshake := kmsg.NewPtrSASLHandshakeRequest()
	handshake.Version, handshake.Mechanism = 1, Mechanism
	ask(t, conn, handshake)
	session, message, err := scram.Auth{User: User, Pass: b.Password().Reveal()}.AsSha256Mechanism().Authenticate(t.Context(), "")
	for done := false; !done; {
		if err != nil {
			t.Fatal(err)
		}
		authenticate := kmsg.NewPtrSASLAuthenticateRequest()
		authenticate.SASLAuthBytes = message
		answer := kmsg.NewPtrSASLAuthenticateResponse()
		if err = answer.ReadFrom(ask(t, conn, authenticate)); err != nil {
			t.Fatal(err)
		}
		done, message, err = session.Challenge(answer.SASLAuthBytes)
	}
	return conn
}

// ask sends a request and returns the answer without its head.
func ask(t *testing.T, conn net.Conn, request kmsg.Request) []byte {
	t.Helper()
	if _, err := conn.Write(wire(request)); err != nil {
		t.Fatal(err)
	}
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		t.Fatalf("no answer to %s: %v", kmsg.NameForKey(request.Key()), err)
	}
	answer := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(conn, answer); err != nil {
		t.Fatal(err)
	}
	return answer[4:]
}

// hungUp fails the test unless the broker closes a connection on which it was sent something, without an answer.
func hungUp(t *testing.T, conn net.Conn, sent []byte) {
	t.Helper()
	conn.Write(sent)
	if answer, err := io.ReadAll(conn); os.IsTimeout(err) || len(answer) > 0 {
		t.Errorf("answered %x, %v; want the connection closed", answer, err)
	}
}

// strange is what must not reach kfake, whoever sends it.
var strange = map[string][]byte{
	"a kind of request that there is not": []byte("\x00\x00\x00\x02\x7f\xff"),
	"the same, and long enough":           []byte("\x00\x00\x00\x0c\x7f\xff\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00"),
	"HTTP":                                []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
	"a size below zero":                   []byte("\xff\xff\xff\xff\x00\x03\x00\x00\x00\x00\x00\x01"),
	"a version below zero":                []byte("\x00\x00\x00\x0c\x00\x03\xff\xff\x00\x00\x00\x01\xff\xff\x00\x00"),
	"a version that there is not":         []byte("\x00\x00\x00\x0c\x00\x03\x7f\xff\x00\x00\x00\x01\xff\xff\x00\x00"),
}

// TestStrangeRequestsAreNotHandedOn: any of these ended the process, or made it allocate a gigabyte.
func TestStrangeRequestsAreNotHandedOn(t *testing.T) {
	b := open(t, t.TempDir())
	for name, sent := range strange {
		for _, known := range []bool{false, true} {
			conn := dial(t, b, known)
			before := allocated()
			hungUp(t, conn, sent)
			if grown := allocated() - before; grown > 64<<20 {
				t.Errorf("%s (authenticated: %t): %d MiB were allocated", name, known, grown>>20)
			}
		}
	}
	create(t, b, "events", 1) // it lives
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

func TestOnlyWhoKnowsThePasswordGetsIn(t *testing.T) {
	b := open(t, t.TempDir())
	for name, mechanism := range map[string][]kgo.Opt{
		"no password":         nil,
		"a wrong password":    {kgo.SASL(scram.Auth{User: User, Pass: "guess"}.AsSha256Mechanism())},
		"another user":        {kgo.SASL(scram.Auth{User: "admin", Pass: b.Password().Reveal()}.AsSha256Mechanism())},
		"PLAIN, user unknown": {kgo.SASL(plain.Auth{User: "nobody", Pass: ""}.AsMechanism())},
		"PLAIN":               {kgo.SASL(plain.Auth{User: User, Pass: b.Password().Reveal()}.AsMechanism())},
	} {
		cl, err := kgo.NewClient(append(mechanism, kgo.SeedBrokers(b.Addr()), kgo.RequestRetries(0), kgo.DisableClientMetrics())...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		if err := cl.Ping(ctx); err == nil || ctx.Err() != nil {
			t.Errorf("%s: Ping = %v, want a refusal", name, err)
		}
		cancel()
		cl.Close()
	}
	if err := client(t, b).Ping(within(t)); err != nil {
		t.Errorf("with the password: %v", err)
	}
}

// TestLibrdkafkaMayAuthenticate: kcat and the clients of most languages look for the first version of a handshake
// before they begin the second.
func TestLibrdkafkaMayAuthenticate(t *testing.T) {
	t.Parallel()
	b := open(t, t.TempDir())
	for range 2 {
		request := kmsg.NewPtrApiVersionsRequest()
		request.Version, request.ClientSoftwareName, request.ClientSoftwareVersion = 3, "librdkafka", "2.0.2"
		answer := kmsg.NewPtrApiVersionsResponse()
		answer.Version = request.Version
		if err := answer.ReadFrom(ask(t, dial(t, b, false), request)); err != nil {
			t.Fatal(err)
		}
		takes := make(map[int16][2]int16)
		for _, key := range answer.ApiKeys {
			takes[key.ApiKey] = [2]int16{key.MinVersion, key.MaxVersion}
		}
		if got := takes[kmsg.SASLHandshake.Int16()]; got != [2]int16{0, 1} || len(takes) < 20 {
			t.Errorf("versions %v of a handshake, and %d kinds of requests", got, len(takes))
		}
	}
	dial(t, b, true)
}

func TestThePasswordStays(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	first := b.Password()
	if first == "" {
		t.Fatal("no password")
	}
	closed(t, b)
	if read, err := datadir.Read(dir, datadir.BrokerPassword); err != nil || read != first {
		t.Errorf("the file has %q, %v; want %q", read.Reveal(), err, first.Reveal())
	}
	b = open(t, dir)
	if b.Password() != first {
		t.Error("another password after a restart")
	}
	closed(t, b)
	file := filepath.Join(dir, datadir.BrokerPassword)
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	b = open(t, dir)
	if b.Password() == first {
		t.Error("the password that others could read is still in the file")
	}
	before := &Broker{addr: b.Addr(), password: first}
	if err := client(t, before, kgo.RequestRetries(0)).Ping(within(t)); err == nil {
		t.Error("the password that others could read is still in force")
	}
	if _, err := datadir.Read(t.TempDir(), datadir.BrokerPassword); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read without a file: %v", err)
	}
}

// TestOthersCanNotReadTheLog: a directory of an earlier release, and files that kfake names 0644.
func TestOthersCanNotReadTheLog(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, datadir.Log, "partitions", "events-0")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "old.dat"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	os.Chmod(left, 0o755)
	os.Chmod(filepath.Join(left, "old.dat"), 0o644)
	if err := os.WriteFile(filepath.Join(dir, datadir.BrokerPassword), []byte("planted\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var said testkit.Logs
	b, err := Open(Config{DataDir: dir, Addr: "127.0.0.1:0"}, slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	create(t, b, "events", 2)
	produce(t, client(t, b, kgo.RecordPartitioner(kgo.ManualPartitioner())), "events", "one")
	if b.Password() == "planted" {
		t.Error("the password that somebody may have put there is in force")
	}
	closed(t, b)
	if !strings.Contains(said.String(), "DATA_DIR was accessible to other users") {
		t.Errorf("not said: %s", said.String())
	}
	files := 0
	err = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		files++
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		return err
	})
	if err != nil || files < 6 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestADirectoryOfOthersIsRefused: to close a directory in which people live would lock them out.
func TestADirectoryOfOthersIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "letters"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Open(Config{DataDir: dir, Addr: "127.0.0.1:0"}, quiet())
	if err == nil || !strings.Contains(err.Error(), "DATA_DIR="+dir+": other users can access it (-rwxr-xr-x), and it holds more than the embedded broker's files, such as letters") {
		t.Errorf("Open = %v", err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the directory has been changed: %v, %v", info.Mode(), err)
	}
}

// TestALogFromBeforeThePassword: kfake has noted that there are no users.
func TestALogFromBeforeThePassword(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "events", 1)
	closed(t, b)
	for path, text := range map[string]string{datadir.BrokerPassword: "", filepath.Join(datadir.Log, "sasl.json"): `{"version":1}`} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := client(t, open(t, dir)).Ping(within(t)); err != nil {
		t.Errorf("nobody gets in: %v", err)
	}
}

// FuzzRequests sends a broker anything. It must live, and serve others.
func FuzzRequests(f *testing.F) {
	for _, sent := range strange {
		f.Add(sent, false)
		f.Add(sent, true)
	}
	for key := range int16(kmsg.MaxKey) {
		if request := kmsg.RequestForKey(key); request != nil {
			request.SetVersion(request.MaxVersion())
			f.Add(wire(request), true)
			f.Add(wire(request), false)
		}
	}
	b, err := Open(Config{DataDir: f.TempDir(), Addr: "127.0.0.1:0"}, quiet())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { b.Close() })
	f.Fuzz(func(t *testing.T, sent []byte, known bool) {
		conn := dial(t, b, known)
		conn.Write(sent)
		conn.(*net.TCPConn).CloseWrite()
		conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		io.Copy(io.Discard, io.LimitReader(conn, 1<<20))
		ask(t, dial(t, b, true), kmsg.NewPtrMetadataRequest())
	})
}
