package wsfile

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/rules"
)

// Load reads a workspace file, through lookup as the secret files that it
// names, and parses it. See [Parse] for its errors; a file that can't be read
// is the error of lookup.
func Load(file string, lookup Lookup) (*workspace.Snapshot, error) {
	text, err := lookup.File(file)
	if err != nil {
		return nil, fmt.Errorf("read workspace: %w", err)
	}
	return Parse(file, text, lookup)
}

// Parse reads the YAML text of a workspace file. The file's name is used in
// errors and as the base of relative paths in it. The error is a [*Error]
// that lists all problems.
//
// Both sections have to be there, and every destination needs its list of
// sources: a file that was cut short must not look like one that says less.
// Aliases are refused, since with them a small file can stand for a huge one.
func Parse(file string, text []byte, lookup Lookup) (*workspace.Snapshot, error) {
	d := &decoder{
		file: file, lookup: lookup, found: new(problems),
		sources: make(claims), writeKeys: make(claims), destinations: make(claims),
	}
	root := value{decoder: d, node: document(text, d.found)}
	snapshot := root.workspace()
	if err := d.found.err(file, lineAt(text, len(text))); err != nil {
		return nil, err
	}
	return snapshot, nil
}

// decoder is what all places of one document share.
type decoder struct {
	file   string
	lookup Lookup
	found  *problems

	sources, writeKeys, destinations claims
}

func (v value) workspace() *workspace.Snapshot {
	o := v.object(wantDocument, "sources", "destinations")
	// Sources first, wherever they stand: destinations refer to them.
	sources := each(o.need("sources", "a list of sources; `sources: []` says that there are none"), value.source)
	destinations := each(o.need("destinations", "a list of destinations; `destinations: []` says that there are none"), value.destination)
	return workspace.NewSnapshot(sources, destinations)
}

// each decodes the elements of the list at a place.
func each[T any](v value, decode func(value) T) []T {
	items := v.items("a list; [] says that there are none")
	decoded := make([]T, len(items))
	for i, item := range items {
		decoded[i] = decode(item)
	}
	return decoded
}

func (v value) source() workspace.Source {
	o := v.object("a source", "id", "name", "writeKey", "enabled", "trackingPlan")
	id := o.need("id", rules.WantID).id(v.sources)
	return workspace.Source{
		ID:           id,
		Name:         o.get("name").name(id),
		WriteKeyHash: o.need("writeKey", wantText).writeKey(),
		Enabled:      o.get("enabled").boolean(true),
		Plan:         o.get("trackingPlan").trackingPlan(),
	}
}

func (v value) destination() workspace.Destination {
	o := v.object("a destination", "id", "type", "name", "sources", "enabled", "sharedSecret", "endpoints")
	id := o.need("id", rules.WantID).id(v.destinations)
	kind, _ := o.need("type", workspace.TypeWebhooks).checked(workspace.TypeWebhooks, rules.Type)
	secret, _ := o.get("sharedSecret").secret(rules.Secret)
	return workspace.Destination{
		ID:           id,
		Type:         kind,
		Name:         o.get("name").name(id),
		Sources:      o.need("sources", "a list of ids of sources").connections(),
		Enabled:      o.get("enabled").boolean(true),
		SharedSecret: secret,
		Endpoints:    o.need("endpoints", rules.Endpoints(0)).endpoints(),
	}
}

func (v value) id(taken claims) string {
	id, ok := v.checked(rules.WantID, rules.ID)
	if ok {
		taken.claim(v, id, "an id")
	}
	return id
}

// name is optional, and the id without it.
func (v value) name(id string) string {
	name, ok := v.checked("text", rules.Name)
	if !ok {
		return id
	}
	return name
}

func (v value) writeKey() [sha256.Size]byte {
	key, ok := v.secret(rules.WriteKey)
	hash := workspace.HashWriteKey(key.Reveal())
	if ok {
		v.hidden = true
		v.writeKeys.claim(v, string(hash[:]), "a write key")
	}
	return hash
}

func (v value) connections() []string {
	seen := make(claims)
	connected := each(v, func(item value) string {
		id, ok := item.text(rules.WantID)
		switch _, known := item.sources[id]; {
		case !ok:
		case !known:
			item.expected("the id of one of the sources")
		default:
			seen.claim(item, id, "an entry")
		}
		return id
	})
	return slices.Sorted(slices.Values(connected))
}

func (v value) endpoints() []workspace.Endpoint {
	seen := make(claims)
	endpoints := each(v, func(item value) workspace.Endpoint { return item.endpoint(seen) })
	isList := !v.absent() && kindOf(v.node) == "a list" // else that was reported
	if objection := rules.Endpoints(len(endpoints)); objection != "" && isList {
		v.found.add(Problem{Line: v.node.Line, Path: v.path, Value: fmt.Sprintf("%d endpoints", len(endpoints)), Want: objection})
	}
	return endpoints
}

func (v value) endpoint(seen claims) workspace.Endpoint {
	o := v.object("an endpoint", "url", "headers")
	return workspace.Endpoint{
		URL:     o.need("url", rules.WantURL).url(seen),
		Headers: o.get("headers").headers(),
	}
}

// url is repeated nowhere in its destination: endpoints are told apart by it.
func (v value) url(seen claims) string {
	text, ok := v.text(rules.WantURL)
	if !ok {
		return ""
	}
	if objection := rules.URL(text); objection != "" {
		v.found.add(Problem{Line: v.node.Line, Path: v.path, Value: shownURL(text), Want: objection})
		return ""
	}
	v.hidden = true
	seen.claim(v, text, "a URL")
	return text
}

func (v value) headers() []workspace.Header {
	if v.absent() {
		return nil
	}
	const want = "a mapping of header names to values"
	var headers []workspace.Header
	seen := make(claims)
	for _, e := range v.entries(want) {
		name, ok := e.key.checked("a header name", rules.HeaderName)
		if !ok {
			continue
		}
		seen.claim(e.key, strings.ToLower(name), "a name (in any case)")
		text, _ := e.value.secret(rules.HeaderValue)
		headers = append(headers, workspace.Header{Name: name, Value: text})
	}
	if objection := rules.Headers(len(headers)); objection != "" {
		v.expected(objection)
	}
	return headers
}
