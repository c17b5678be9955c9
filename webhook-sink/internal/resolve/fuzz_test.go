package resolve_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/post"
	"github.com/anabranch/anabranch/webhook-sink/internal/resolve"
)

// inside says in other words than the guard's that an address is no public one.
func inside(addr netip.Addr) bool {
	low := addr.Unmap()
	if low.Is6() && low.As16()[0]>>5 != 1 {
		return true // outside of 2000::/3, whatever is inside of it
	}
	return low.IsLoopback() || low.IsPrivate() || low.IsUnspecified() || low.IsLinkLocalUnicast() || low.IsMulticast() || addr.Zone() != ""
}

// Whatever URL makes a target, and whatever its host resolves to: nothing passes
// the last hook before connect(2) that is no public address.
func FuzzURL(f *testing.F) {
	for _, test := range spellings {
		f.Add("http://"+test.host+"/", "127.0.0.1", "1.1.1.1")
	}
	f.Add("http://hooks.example:8080/a?b=c", "169.254.169.254", "2606:4700::1111")
	f.Add("https://user:pass@hooks.example", "64:ff9b::a00:1", "::ffff:10.0.0.1")
	f.Fuzz(func(t *testing.T, url, first, second string) {
		target, err := post.NewTarget(workspace.Endpoint{URL: url})
		if err != nil {
			return
		}
		for _, text := range []string{first, second} {
			if addr, err := netip.ParseAddr(text); err != nil || addr.Zone() != "" {
				return
			}
		}
		strict := guard.New(nil)
		d := resolve.NewDialer(resolve.Options{Guard: strict, NameServer: resolve.NameServerOf(first, second)})
		defer d.Close()
		resolve.Watch(d, func(address string) {
			if peer, err := netip.ParseAddrPort(address); err != nil || inside(peer.Addr()) {
				t.Errorf("%q with %s and %s: %s passes", url, first, second, address)
			}
		})
		c := post.NewClient(post.Options{Timeout: 5 * time.Second, Guard: strict, Dial: d.DialContext})
		defer c.Close()
		if got := c.Post(t.Context(), target, []byte("{}"), ""); got.Verdict == outcome.Delivered {
			t.Errorf("%q: delivered", url)
		}
	})
}
