package broker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
)

// Clients may ask for compaction; nothing of it may happen, even when the state on disk asks for it every millisecond.
func TestNothingIsEverCompacted(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "workspace", 1, "cleanup.policy", "compact", "segment.bytes", "100")
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprint("version ", i)) // all under one key
	}
	produce(t, client(t, b), "workspace", want...)
	closed(t, b)
	password := b.Password()
	compactEveryMillisecond(t, filepath.Join(dir, "broker", "broker_configs.json"))

	t.Run("kfake by itself compacts", func(t *testing.T) {
		image := killed(t, dir)
		cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DataDir(filepath.Join(image, "broker")),
			kfake.EnableSASL(), kfake.Superuser(Mechanism, User, "unused"))
		if err != nil {
			t.Fatal(err)
		}
		bare := &Broker{addr: cluster.ListenAddrs()[0], cluster: cluster, password: password}
		defer cluster.Close()
		create(t, bare, "another", 1) // makes kfake look whether its timer should run
		eventually(t, func() error {
			if first, _ := offsets(t, bare, "workspace"); first == 0 {
				return errors.New("nothing compacted yet")
			}
			return nil
		})
	})

	b = retaining(t, dir)
	create(t, b, "another", 1)
	for i := range 100 {
		produce(t, client(t, b), "another", strconv.Itoa(i))
	}
	if diff := cmp.Diff(want, readUntil(t, b, "workspace", "version 19")); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// compactEveryMillisecond changes the broker's persisted configuration, as a client's request may.
func compactEveryMillisecond(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), strconv.FormatInt(never.Milliseconds(), 10), "1", 1)
	if changed == string(text) {
		t.Fatalf("no interval in %s", text)
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}
