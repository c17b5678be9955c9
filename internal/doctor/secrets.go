package doctor

import (
	"net/netip"
	"net/url"

	"github.com/anabranch/anabranch/internal/workspace"
)

// leastSecretBytes is the least that is not worth guessing: whoever has one delivery can
// try secrets on it, a billion a second.
const leastSecretBytes = 16

// judgeSecrets judges what protects deliveries on their way. Those that stay on a
// machine need no protection.
func judgeSecrets(s *workspace.Snapshot) []Finding {
	f := &findings{check: CheckWorkspace}
	for _, d := range s.Destinations() {
		if !d.Enabled {
			continue
		}
		about, leaves := "destination "+d.ID, false
		for _, e := range d.Endpoints {
			u, err := url.Parse(e.URL)
			if err != nil || onLoopback(u.Hostname()) {
				continue
			}
			leaves = true
			if u.Scheme == "http" && (len(e.Headers) > 0 || u.User != nil || u.RawQuery != "") {
				f.warn(about, e.SafeURL()+" is not https: its headers, password or query go over the network in the clear",
					"give it an https URL; WEBHOOK_SINK_HTTPS_ONLY refuses others")
			} else if u.Scheme == "http" && d.SharedSecret != "" {
				f.warn(about, e.SafeURL()+" is not https: deliveries are signed, and can be read and sent again on their way",
					"give it an https URL; WEBHOOK_SINK_HTTPS_ONLY refuses others")
			}
		}
		if n := len(d.SharedSecret); leaves && n > 0 && n < leastSecretBytes {
			f.warn(about, "its shared secret is short: whoever has one delivery can guess it and forge others",
				"make one of 16 bytes at least, `openssl rand -hex 32` say, and tell the receiver")
		}
	}
	return f.all
}

// onLoopback tells of a host that no other machine can listen to.
func onLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}
