package broker

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
)

// failing is a listener whose accepts fail a number of times, then succeed until it is closed.
type failing struct {
	net.Listener

	failures int
	closed   chan struct{}
}

func (f *failing) Accept() (net.Conn, error) {
	if f.failures > 0 {
		f.failures--
		return nil, syscall.EMFILE
	}
	select {
	case <-f.closed:
		return nil, net.ErrClosed
	default:
	}
	conn, _ := net.Pipe()
	return conn, nil
}

func (f *failing) Close() error {
	close(f.closed)
	return nil
}

func patient(failures int) *patientListener {
	return &patientListener{Listener: &failing{failures: failures, closed: make(chan struct{})}, closed: make(chan struct{})}
}

func TestAcceptOutlastsAShortageOfDescriptors(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		0:  0,
		1:  5 * time.Millisecond,
		3:  35 * time.Millisecond,
		12: 5*(1<<8-1)*time.Millisecond + 4*time.Second, // doubles up to a second, then stays
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			conn, err := patient(failures).Accept()
			if err != nil {
				t.Fatalf("Accept after %d failures: %v", failures, err)
			}
			conn.Close()
			if took := time.Since(began); took != want {
				t.Errorf("Accept after %d failures took %v, want %v", failures, took, want)
			}
		})
	}
}

func TestCloseEndsThePauseOfAccept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := patient(1000)
		result := make(chan error, 1)
		go func() {
			_, err := l.Accept()
			result <- err
		}()
		virtual.Sleep(10*time.Second + 300*time.Millisecond) // virtual: somewhere in a pause
		began := time.Now()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-result; !errors.Is(err, net.ErrClosed) || time.Since(began) > 0 {
			t.Errorf("Accept = %v %v after Close, want %v at once", err, time.Since(began), net.ErrClosed)
		}
	})
}

func TestListenErrors(t *testing.T) {
	_, err := listen("127.0.0.1:kafka-ish", quiet())
	want := "listen on BROKER_ADDR=127.0.0.1:kafka-ish: lookup tcp/kafka-ish: unknown port; set BROKER_ADDR to another address"
	if err == nil || err.Error() != want {
		t.Errorf("listen\n got %v\nwant %s", err, want)
	}
}
