package doctor

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wsseal"
	"github.com/anabranch/anabranch/schemas"
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
		if leaves && short(d.SharedSecret) {
			f.warn(about, "its shared secret is short: whoever has one delivery can guess it and forge others",
				"make one of 16 bytes at least, `openssl rand -hex 32` say, and tell the receiver")
		}
	}
	return f.all
}

// short tells of a secret that can be guessed. How long a sealed one is nobody knows here.
func short(secret schemas.Secret) bool {
	_, sealed := secret.Sealed()
	return !sealed && secret != "" && len(secret) < leastSecretBytes
}

// judgeSealing judges how the topic holds the secrets of destinations: private is whether
// nobody but the user of this machine can read it.
func judgeSealing(s *workspace.Snapshot, private bool) []Finding {
	f := &findings{check: CheckWorkspace}
	byKey := make(map[string][]string) // destinations by the id of a key; empty: in the clear
	for _, d := range s.Destinations() {
		for _, secret := range d.Secrets() {
			if key := wsseal.KeyOf(secret); !slices.Contains(byKey[key], d.ID) {
				byKey[key] = append(byKey[key], d.ID)
			}
		}
	}
	keys := slices.Sorted(maps.Keys(byKey))
	several := len(keys) > 2 || len(keys) == 2 && keys[0] != ""
	for _, key := range keys {
		of := "the secrets of " + someOf(byKey[key])
		switch {
		case key == "" && private:
			f.ok("", of+" are in the topic workspace in the clear, on this machine")
		case key == "":
			f.warn("", of+" are in the topic workspace in the clear: whoever may read the topic, as each stage may, has them",
				"set SECRETS_KEY where the sink and `anabranch apply` run, and apply the workspace again")
		case several:
			f.warn("", of+" are encrypted with the key "+key+", and others with another key",
				"apply the workspace again: its secrets are then encrypted with the first key of SECRETS_KEY, and the other keys may go")
		default:
			f.ok("", of+" are encrypted with the key "+key)
		}
	}
	return f.all
}

// someOf names destinations, of many the first ones.
func someOf(ids []string) string {
	const most = 5
	text := strings.Join(ids[:min(len(ids), most)], ", ")
	if more := len(ids) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if len(ids) == 1 {
		return "destination " + text
	}
	return "destinations " + text
}

// onLoopback tells of a host that no other machine can listen to.
func onLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}
